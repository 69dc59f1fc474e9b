// SPDX-License-Identifier: GPL-2.0-or-later
// Alerts, recording rules and dashboards for `memstate exporter`, as a monitoring mixin.
// Override _config before rendering:
//   (import 'mixin.libsonnet') + { _config+:: { selector: 'job="node-memory"' } }
(import 'config.libsonnet') +
(import 'rules.libsonnet') +
(import 'alerts.libsonnet') +
(import 'dashboards.libsonnet')
