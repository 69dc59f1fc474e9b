/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look - a snapshot of the metrics that the exporter provides, collected in one pass over
 * the processes and cgroups. Plain data.
 */
#ifndef MS_CLASSIFY_EXPORTER_LOOK_H
#define MS_CLASSIFY_EXPORTER_LOOK_H

#include "classify/exporter/cgroups.h"
#include "classify/exporter/groups.h"

/* The stages of taking a snapshot. The exporter reports the cost of each stage. */
enum look_stage {
	LOOK_PROCESSES, /* list the processes, and read their memory */
	LOOK_GROUPS,	/* find the group of each process */
	LOOK_CGROUPS,	/* read the files of the cgroups */
	LOOK_OWNERS,	/* read mappings; shown only with --owners */
	LOOK_HEAPS,	/* read heaps; shown only with --heap */
	LOOK_STAGE_COUNT_
};

extern const char *const look_stage_names[LOOK_STAGE_COUNT_];

struct look_cost {
	/* elapsed time of the stage in the last snapshot */
	uint64_t wall_ns;
	uint64_t cpu_ns; /* CPU time of the stage in all snapshots so far */
};

#define LOOK_PAUSE_BUCKETS 8

/*
 * Upper bounds in ns of the histogram buckets of pauses; the last bucket has
 * no upper bound.
 */
extern const uint64_t look_pause_limits_ns[LOOK_PAUSE_BUCKETS - 1];

/* How long processes were paused while memstate read their heaps. */
struct look_pauses {
	/* number of pauses in each bucket; not cumulative */
	uint64_t counts[LOOK_PAUSE_BUCKETS];
	uint64_t sum_ns;
};

/*
 * The last kill with a given verdict, which becomes the exemplar of the
 * verdict's counter.
 */
struct look_kill {
	int pid; /* pid of the killed process; 0: no kill has had this verdict */
	uint64_t unix_ms;
	char group[64];
};

/* The metrics of the exporter itself. Amounts are BYTES_UNKNOWN if unknown. */
struct look_self {
	uint64_t cpu_ns, resident_bytes, start_unix_ms, open_fds, max_fds;
	/*
	 * Number of failed reads of the web configuration file, and whether the last
	 * read succeeded.
	 */
	uint64_t web_failure_count;
	bool has_web_file, is_web_ok;
};

struct exporter_look {
	uint64_t taken_ns, unix_ms;
	/*
	 * wall-clock time of the system boot; the start times of processes are relative
	 * to it
	 */
	uint64_t boot_unix_ms;
	struct named_groups groups;
	struct named_cgroups cgroups;
	bool has_owners; /* true if the mappings of the shown groups are read */
	bool has_heaps;	 /* heaps are read */
	struct look_pauses pauses;
	bool is_log_readable;
	uint64_t verdict_counts[OOM_VERDICT_COUNT_];
	struct look_kill verdict_kills[OOM_VERDICT_COUNT_];
	struct look_cost costs[LOOK_STAGE_COUNT_];
	/* total time for which reading /proc has held the mmap locks of processes */
	uint64_t locked_ns;
	size_t late_count; /* number of processes whose memory has not been read yet */
	bool is_success;   /* true if the processes could be listed */
	/* version of the cgroup hierarchy; 0: no memory controller is visible */
	int cgroup_version;
	struct look_self self;
};

void exporter_look_init(struct exporter_look *look);
void exporter_look_release(struct exporter_look *look);

#endif
