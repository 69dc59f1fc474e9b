// SPDX-License-Identifier: GPL-2.0-or-later
{
  prometheusRules+:: {
    groups+: [{
      name: 'memstate.rules',
      rules: [
        {
          record: 'memstate:cgroup_headroom:bytes',
          expr: 'memstate_cgroup_limit_bytes - memstate_cgroup_need_bytes',
        },
        {
          record: 'memstate:cgroup_need:ratio',
          expr: 'memstate_cgroup_need_bytes / memstate_cgroup_limit_bytes',
        },
        {
          record: 'memstate:cgroup_hidden:ratio',
          expr: 'memstate_cgroup_hidden_bytes / memstate_cgroup_limit_bytes',
        },
        {
          record: 'memstate:group_resident:bytes',
          expr: 'sum without (state) (memstate_group_resident_bytes)',
        },
        {
          record: 'memstate:group_lazyfree:ratio',
          expr: 'sum without (state) (memstate_group_resident_bytes{state="lazyfree"}) / memstate:group_resident:bytes',
        },
        {
          record: 'memstate:instance_resident:bytes',
          expr: 'sum by (%(instanceLabels)s) (memstate_group_resident_bytes)' % $._config,
        },
        {
          record: 'memstate:instance_unreadable:ratio',
          expr: 'sum by (%(instanceLabels)s) (memstate_group_unreadable_processes) / (sum by (%(instanceLabels)s) (memstate_group_processes) + sum by (%(instanceLabels)s) (memstate_group_unreadable_processes))' % $._config,
        },
      ],
    }],
  },
}
