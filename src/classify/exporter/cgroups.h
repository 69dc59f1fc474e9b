/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroups - the memory figures, event counts and growth of the cgroups that have a name
 * in the exporter. The functions are pure.
 *
 * If several cgroups have the same name, the figures are those of the cgroup that is
 * nearest to its limit, and the counts are sums. When a cgroup first appears, its counts
 * are exported as 0, because Prometheus does not see an increase without an earlier
 * value. The counts for a name are exported until CGROUPS_KEEP_NS after the last cgroup
 * of that name was removed.
 */
#ifndef MS_CLASSIFY_EXPORTER_CGROUPS_H
#define MS_CLASSIFY_EXPORTER_CGROUPS_H

#include "classify/cgroup/figures.h"
#include "classify/exporter/group_name.h"
#include "classify/growth/growth.h"
#include "classify/growth/limit_time.h"
#include "classify/growth/series.h"
#include "classify/oom/verdict.h"

#define CGROUPS_KEEP_NS (3600 * NS_PER_S)
/* The exporter reports the time of the last kill for this many ms after the kill. */
#define CGROUPS_LAST_KILL_MS (UINT64_C(24) * 3600 * 1000)

enum cgroup_count {
	CGROUP_COUNT_KILLS,
	CGROUP_COUNT_LIMIT_HITS,
	CGROUP_COUNT_WAITING_NS,
	CGROUP_COUNT_STALLED_NS,
	CGROUP_COUNT_COUNT_
};

/* Values of the kernel's counters, or their increases. */
struct cgroup_counts {
	/* COUNT_UNKNOWN if the kernel does not report the counter */
	uint64_t values[CGROUP_COUNT_COUNT_];
};

struct named_cgroup {
	struct group_name name;
	struct oom_figures figures;
	bool has_figures; /* false if no cgroup of this name exists any more */
	/* The exported counts, and the increases to add to them at the next snapshot. */
	struct cgroup_counts counts, pending;
	uint64_t log_kills;	    /* number of kills that the kernel log reports */
	uint64_t seen_ns;	    /* time when a cgroup with this name last existed */
	uint64_t last_kill_unix_ms; /* 0: no kill */
	enum oom_verdict last_verdict;
	struct growth_series needs;
	uint64_t growth_due_ns;
	/*
	 * growth of the memory need (memory that cannot be reclaimed); GROWTH_TOO_SHORT
	 * before the first result
	 */
	struct growth growth;
	bool has_time;
	/*
	 * predicted time until the cgroup reaches its limit, counted from growth_taken_ns
	 */
	struct growth_time time;
	uint64_t growth_taken_ns;
};

struct named_cgroups {
	struct named_cgroup **items; /* cgroups sorted by name, in byte order */
	size_t count, capacity;
	size_t next_growth; /* index of the cgroup whose growth is determined next */
};

#define NAMED_CGROUPS_INIT    \
	{                     \
		.items = NULL \
	}

void named_cgroups_release(struct named_cgroups *cgroups);

/* Begin a snapshot. All figures are unknown until they are added. */
void named_cgroups_begin(struct named_cgroups *cgroups);

/*
 * Add a cgroup with the given name. `increase` is the change in its counts since the
 * previous snapshot.
 */
void named_cgroups_add(struct named_cgroups *cgroups, const struct group_name *name,
		       const struct oom_figures *figures,
		       const struct cgroup_counts *increase, uint64_t now_ns);

/*
 * Add a kill that the kernel log reports. The kernel counts the same kill in the files
 * of the cgroup, unless the cgroup was removed before they were read.
 */
void named_cgroups_add_kill(struct named_cgroups *cgroups, const struct group_name *name,
			    enum oom_verdict verdict, uint64_t unix_ms, uint64_t now_ns);

/*
 * End a snapshot: drop the cgroups that were removed at least CGROUPS_KEEP_NS ago, and
 * determine the growth of a few of the remaining cgroups.
 */
void named_cgroups_end(struct named_cgroups *cgroups, uint64_t now_ns);

/* Return the cgroup with this name, or NULL. */
struct named_cgroup *named_cgroups_find(const struct named_cgroups *cgroups,
					const char *name);

/* Return the increase of each count. A count that is lower than before was reset to 0. */
struct cgroup_counts cgroup_counts_sub(const struct cgroup_counts *now,
				       const struct cgroup_counts *before);

#endif
