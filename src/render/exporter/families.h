/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * families - the table of the exporter's metric families. The exposition, --list-metrics
 * and memstate-metrics(7) are generated from this table. Names, types, units and labels
 * never change, because rules and dashboards depend on them.
 */
#ifndef MS_RENDER_EXPORTER_FAMILIES_H
#define MS_RENDER_EXPORTER_FAMILIES_H

#include <stdbool.h>

#include "base/strbuf.h"

enum metric {
	METRIC_GROUP_RESIDENT,
	METRIC_GROUP_PSS,
	METRIC_GROUP_SWAP,
	METRIC_GROUP_HUGE_PAGE,
	METRIC_GROUP_PROCESSES,
	METRIC_GROUP_UNREADABLE,
	METRIC_GROUP_OLDEST_START,
	METRIC_GROUP_AGE,
	METRIC_GROUP_OWNER,
	METRIC_GROUP_OWNERS_KNOWN,
	METRIC_GROUP_UNBACKED,
	METRIC_GROUP_RESERVED,
	METRIC_GROUP_TRIMMABLE,
	METRIC_GROUP_HEAP_KNOWN,
	METRIC_CGROUP_LIMIT,
	METRIC_CGROUP_USAGE,
	METRIC_CGROUP_NEED,
	METRIC_CGROUP_WORKING_SET,
	METRIC_CGROUP_HIDDEN,
	METRIC_CGROUP_MEMORY,
	METRIC_CGROUP_NEED_GROWTH,
	METRIC_CGROUP_LIMIT_ETA,
	METRIC_CGROUP_LIMIT_ETA_SOONEST,
	METRIC_CGROUP_OOM_KILLS,
	METRIC_CGROUP_LIMIT_HITS,
	METRIC_CGROUP_WAITING,
	METRIC_CGROUP_STALLED,
	METRIC_OOM_VERDICTS,
	METRIC_CGROUP_LAST_OOM_KILL,
	METRIC_BUILD,
	METRIC_COLLECT_DURATION,
	METRIC_COLLECT_CPU,
	METRIC_TARGET_LOCKED,
	METRIC_HEAP_PAUSE,
	METRIC_SERIES_LEFT_OUT,
	METRIC_TARGETS_LATE,
	METRIC_COLLECT_SUCCESS,
	METRIC_LOOK_TIMESTAMP,
	METRIC_WEB_FILE_OK,
	METRIC_WEB_FILE_FAILURES,
	METRIC_PROCESS_CPU,
	METRIC_PROCESS_RESIDENT,
	METRIC_PROCESS_START,
	METRIC_PROCESS_OPEN_FDS,
	METRIC_PROCESS_MAX_FDS,
	METRIC_COUNT_
};

enum metric_type {
	METRIC_TYPE_GAUGE,
	METRIC_TYPE_COUNTER,
	METRIC_TYPE_INFO,
	METRIC_TYPE_HISTOGRAM,
};

extern const char *const metric_type_names[];

/* The groups of families that a request can select with collect[]. */
enum metric_collector {
	METRIC_COLLECTOR_PROCESSES, /* groups of processes */
	METRIC_COLLECTOR_OWNERS,    /* metrics enabled by --owners */
	METRIC_COLLECTOR_HEAPS,	    /* metrics enabled by --heap */
	METRIC_COLLECTOR_CGROUPS,   /* cgroups and OOM kills */
	METRIC_COLLECTOR_EXPORTER,  /* the exporter itself */
	METRIC_COLLECTOR_COUNT_
};

extern const char *const metric_collector_names[METRIC_COLLECTOR_COUNT_];

struct metric_family {
	/* name of the family, without the suffix of its samples (_total or _info) */
	const char *name;
	enum metric_type type;
	/*
	 * unit, such as "bytes", which is also the last part of the name; "" if there is
	 * no unit
	 */
	const char *unit;
	/*
	 * The labels, separated by commas. "group" stands for the label "group" and for
	 * the labels that are common to other exporters: namespace, pod and container.
	 */
	const char *labels;
	const char *option; /* option that enables the family, or "" */
	enum metric_collector collector;
	const char *help;
};

extern const struct metric_family metric_families[METRIC_COUNT_];

/* Return the suffix of the family's samples: "_total", "_info" or "". */
const char *metric_suffix(const struct metric_family *family);

/*
 * Return the family with this name, or METRIC_COUNT_ if no family has this name. The name
 * may end with the suffix of the family's samples.
 */
enum metric metric_find(const char *name, size_t length);

/*
 * Append the table as tab-separated lines with the columns name, type, unit, labels,
 * option, help and collector.
 */
void metric_families_add_list(struct strbuf *out);

#endif
