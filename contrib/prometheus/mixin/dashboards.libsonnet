// SPDX-License-Identifier: GPL-2.0-or-later
{
  local dashboards = self,
  local datasource = { type: 'prometheus', uid: '${datasource}' },

  local target(expr, legend, instant=false) = {
    expr: expr,
    legendFormat: legend,
    datasource: datasource,
    [if instant then 'instant']: true,
    [if instant then 'format']: 'table',
  },

  // Number the targets A, B, C.
  local withIds(targets) = std.mapWithIndex(
    function(i, t) t { refId: std.char(65 + i) }, targets
  ),

  local panel(kind, title, description, unit, targets, custom={}, options={}) = {
    type: kind,
    title: title,
    description: description,
    datasource: datasource,
    fieldConfig: { defaults: { unit: unit, custom: custom }, overrides: [] },
    options: options,
    targets: withIds(targets),
  },

  local graph(title, description, unit, targets) = panel(
    'timeseries', title, description, unit, targets,
    { fillOpacity: 10, lineWidth: 1, showPoints: 'never' },
    { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'desc' } }
  ),

  local stacked(title, description, unit, targets) = panel(
    'timeseries', title, description, unit, targets,
    { fillOpacity: 60, lineWidth: 0, showPoints: 'never', stacking: { mode: 'normal', group: 'A' } },
    { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'desc' } }
  ),

  local table(title, description, unit, targets) = panel('table', title, description, unit, targets) {
    transformations: [
      { id: 'organize', options: { excludeByName: { Time: true, __name__: true, job: true } } },
    ],
  },

  local stat(title, description, unit, targets) = panel(
    'stat', title, description, unit, targets,
    options={ reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'none' }
  ),

  // Two panels in each row.
  local placed(panels) = std.mapWithIndex(
    function(i, p) p { id: i + 1, gridPos: { h: 8, w: 12, x: (i % 2) * 12, y: std.floor(i / 2) * 8 } }, panels
  ),

  local variable(name, label, query, multi=true) = {
    type: 'query',
    name: name,
    label: label,
    datasource: datasource,
    query: { query: query, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: multi,
    multi: multi,
    [if multi then 'allValue']: '.*',
  },

  local datasourceVariable = {
    type: 'datasource',
    name: 'datasource',
    label: 'Data source',
    query: 'prometheus',
    refresh: 1,
  },

  local instance = variable('instance', 'Node', 'label_values(memstate_build_info, instance)'),
  local container = variable('group', 'Container', 'label_values(memstate_cgroup_limit_bytes{instance=~"$instance"}, group)', false),
  local group = variable('group', 'Group', 'label_values(memstate_group_resident_bytes{instance=~"$instance"}, group)', false),

  local dashboard(name, title, description, variables, panels) = {
    uid: 'memstate-' + name,
    title: 'memstate: ' + title,
    description: description,
    tags: ['memstate'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [datasourceVariable] + variables },
    annotations: { list: [] },
    links: [{
      type: 'dashboards',
      title: 'memstate',
      tags: ['memstate'],
      asDropdown: true,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      icon: '',
      tooltip: '',
      url: '',
    }],
    panels: placed(panels),
  },

  grafanaDashboards+:: {
    'memstate-fleet.json': dashboard('fleet', 'fleet', 'Which containers and nodes need attention', [instance], [
      table('Closest to the limit', 'Need as a share of the limit: memory that the kernel cannot reclaim.', 'percentunit', [
        target('topk(20, memstate:cgroup_need:ratio{instance=~"$instance"})', '', true),
      ]),
      table('Reach the limit first', 'Predicted time until the need reaches the limit, if it grows steadily.', 's', [
        target('bottomk(20, memstate_cgroup_limit_eta_seconds{instance=~"$instance"})', '', true),
      ]),
      table('Live memory that no working set contains', 'Hidden memory as a share of the limit.', 'percentunit', [
        target('topk(20, memstate:cgroup_hidden:ratio{instance=~"$instance"} > 0)', '', true),
      ]),
      graph('OOM kills by verdict', 'Kills in one hour, by the reason that memstate oom explain gives.', 'short', [
        target('sum by (verdict) (increase(memstate_oom_verdicts_total{instance=~"$instance"}[1h])) > 0', '{{verdict}}'),
      ]),
      stacked('Resident memory by state', 'All processes of the nodes.', 'bytes', [
        target('sum by (state) (memstate_group_resident_bytes{instance=~"$instance"})', '{{state}}'),
      ]),
      graph('Resident memory by node', 'Shared pages are counted once for each process.', 'bytes', [
        target('memstate:instance_resident:bytes{instance=~"$instance"}', '{{instance}}'),
      ]),
      graph('Largest groups', 'Proportional set size.', 'bytes', [
        target('topk(10, sum by (group) (memstate_group_pss_bytes{instance=~"$instance"}))', '{{group}}'),
      ]),
      graph('CPU time of the exporters', 'Share of one CPU.', 'percentunit', [
        target('rate(process_cpu_seconds_total{%(selector)s,instance=~"$instance"}[5m])' % $._config, '{{instance}}'),
      ]),
      graph('Age of the oldest figure', 'Processes are read in turn, within the budget for CPU time.', 's', [
        target('max by (instance) (memstate_group_age_seconds{instance=~"$instance"})', '{{instance}}'),
      ]),
      graph('Processes that cannot be read', 'The sums of their groups are lower bounds.', 'percentunit', [
        target('memstate:instance_unreadable:ratio{instance=~"$instance"}', '{{instance}}'),
      ]),
      graph('Series left out', 'More than 0: raise --max-series, or select groups with --match.', 'short', [
        target('memstate_series_left_out{instance=~"$instance"}', '{{instance}}'),
      ]),
      table('Versions', '', 'none', [
        target('count by (version, kernel, cgroup_version) (memstate_build_info{instance=~"$instance"})', '', true),
      ]),
    ]),

    'memstate-container.json': dashboard('container', 'container', 'The memory limit of a container or unit, and what counts against it', [instance, container], [
      graph('Need, working set and limit', 'The kernel kills a process if the need cannot stay below the limit.', 'bytes', [
        target('memstate_cgroup_limit_bytes{instance=~"$instance",group="$group"}', 'limit'),
        target('memstate_cgroup_need_bytes{instance=~"$instance",group="$group"}', 'need'),
        target('memstate_cgroup_working_set_bytes{instance=~"$instance",group="$group"}', 'working set'),
        target('memstate_cgroup_usage_bytes{instance=~"$instance",group="$group"}', 'usage'),
      ]),
      stacked('Parts of the usage', 'Only the largest cgroups of a node have these series.', 'bytes', [
        target('memstate_cgroup_memory_bytes{instance=~"$instance",group="$group"}', '{{part}}'),
      ]),
      graph('Growth of the need', '0: the need does not grow. No data: it cannot be determined yet.', 'Bps', [
        target('memstate_cgroup_need_growth_bytes_per_second{instance=~"$instance",group="$group"}', 'growth'),
      ]),
      graph('Predicted time until the limit', 'Only while the need grows steadily.', 's', [
        target('memstate_cgroup_limit_eta_seconds{instance=~"$instance",group="$group"}', 'predicted'),
        target('memstate_cgroup_limit_eta_soonest_seconds{instance=~"$instance",group="$group"}', 'at the earliest'),
      ]),
      graph('Hidden memory', 'Live anonymous memory that no working set contains.', 'bytes', [
        target('memstate_cgroup_hidden_bytes{instance=~"$instance",group="$group"}', 'hidden'),
      ]),
      graph('Waiting for memory', 'Share of the time (PSI). Not on cgroup v1.', 'percentunit', [
        target('rate(memstate_cgroup_memory_waiting_seconds_total{instance=~"$instance",group="$group"}[5m])', 'some tasks'),
        target('rate(memstate_cgroup_memory_stalled_seconds_total{instance=~"$instance",group="$group"}[5m])', 'all tasks'),
      ]),
      graph('Hits of the limit', 'Most hits kill no process: the kernel reclaims page cache.', 'ops', [
        target('rate(memstate_cgroup_limit_hits_total{instance=~"$instance",group="$group"}[5m])', 'hits'),
      ]),
      stat('OOM kills', 'In the shown time.', 'short', [
        target('increase(memstate_cgroup_oom_kills_total{instance=~"$instance",group="$group"}[$__range])', 'kills'),
      ]),
    ]),

    'memstate-group.json': dashboard('group', 'process group', 'The memory of the processes of a container, unit or program', [instance, group], [
      stacked('Resident memory by state', 'The sum over the states is Rss.', 'bytes', [
        target('sum by (state) (memstate_group_resident_bytes{instance=~"$instance",group="$group"})', '{{state}}'),
      ]),
      stacked('Resident memory by owner', 'Only with memstate exporter --owners. Until the owners of a process are known, its memory belongs to the owner unknown.', 'bytes', [
        target('sum by (memory_owner) (memstate_group_owner_bytes{instance=~"$instance",group="$group"})', '{{memory_owner}}'),
      ]),
      graph('Rss, Pss and swap', 'Pss divides each shared page by the number of its users.', 'bytes', [
        target('sum(memstate_group_resident_bytes{instance=~"$instance",group="$group"})', 'Rss'),
        target('sum(memstate_group_pss_bytes{instance=~"$instance",group="$group"})', 'Pss'),
        target('sum(memstate_group_swap_bytes{instance=~"$instance",group="$group"})', 'swap'),
      ]),
      graph('Processes', '', 'short', [
        target('sum(memstate_group_processes{instance=~"$instance",group="$group"})', 'in the sums'),
        target('sum(memstate_group_unreadable_processes{instance=~"$instance",group="$group"})', 'not readable'),
        target('sum(memstate_group_owners_known_processes{instance=~"$instance",group="$group"})', 'owners known'),
      ]),
      graph('LazyFree share of Rss', 'Memory that the kernel reclaims without writing it anywhere.', 'percentunit', [
        target('memstate:group_lazyfree:ratio{instance=~"$instance",group="$group"}', '{{instance}}'),
      ]),
      graph('Huge pages', 'Resident memory in transparent huge pages.', 'bytes', [
        target('sum(memstate_group_huge_page_bytes{instance=~"$instance",group="$group"})', 'huge pages'),
      ]),
      graph('Address space without memory', 'Only with memstate exporter --owners.', 'bytes', [
        target('sum(memstate_group_unbacked_bytes{instance=~"$instance",group="$group"})', 'unbacked'),
        target('sum(memstate_group_reserved_bytes{instance=~"$instance",group="$group"})', 'reserved'),
      ]),
      stat('Age of the oldest process', 'It drops when the group restarts.', 's', [
        target('time() - min(memstate_group_oldest_start_time_seconds{instance=~"$instance",group="$group"})', 'age'),
      ]),
    ]),

    'memstate-kills.json': dashboard('kills', 'kills', 'Which processes the OOM killer killed, and why', [instance], [
      table('Kills in the last 24 hours', 'Time since the last kill of each group, with its verdict.', 's', [
        target('sort(time() - memstate_cgroup_last_oom_kill_timestamp_seconds{instance=~"$instance"})', '', true),
      ]),
      table('Kills by group', 'In the shown time.', 'short', [
        target('sort_desc(increase(memstate_cgroup_oom_kills_total{instance=~"$instance"}[$__range]) > 0)', '', true),
      ]),
      graph('Kills by verdict', 'In one hour.', 'short', [
        target('sum by (verdict) (increase(memstate_oom_verdicts_total{instance=~"$instance"}[1h])) > 0', '{{verdict}}'),
      ]),
      graph('Kills by node', 'In one hour.', 'short', [
        target('sum by (instance) (increase(memstate_oom_verdicts_total{instance=~"$instance"}[1h])) > 0', '{{instance}}'),
      ]),
      graph('Headroom of the groups closest to their limit', 'Limit minus need.', 'bytes', [
        target('bottomk(10, memstate:cgroup_headroom:bytes{instance=~"$instance"})', '{{group}}'),
      ]),
      graph('All tasks wait for memory', 'Share of the time (PSI full). Not on cgroup v1.', 'percentunit', [
        target('topk(10, rate(memstate_cgroup_memory_stalled_seconds_total{instance=~"$instance"}[5m]))', '{{group}}'),
      ]),
    ]),
  },
}
