// SPDX-License-Identifier: GPL-2.0-or-later
{
  _config+:: {
    // selects the exporters' own metrics, such as `up`
    selector: 'job="memstate"',
    // labels of one exporter
    instanceLabels: 'job, instance',
    // where the runbooks are, with the section's anchor in place of %s
    runbookURLPattern: 'file:///usr/share/doc/memstate/RUNBOOKS.md#%s',

    // shares of the limit
    needRatio: 0.9,
    etaNeedRatio: 0.5,
    hiddenRatio: 0.1,
    workingSetGapRatio: 0.2,
    tmpfsRatio: 0.3,
    kernelRatio: 0.25,
    // shares of the resident memory, and of the processes
    lazyfreeRatio: 0.3,
    retentionRatio: 0.4,
    unreadableRatio: 0.05,

    retentionBytes: 256 * 1024 * 1024,
    etaSeconds: 4 * 3600,
    staleSeconds: 300,
    limitHitsPerSecond: 1,
    stalledRatio: 0.1,
  },
}
