/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_diff - compare the memory of processes at two moments: the growth by owner,
 * state, process and mapping, and the growth of their cgroup. Pure.
 *
 * Processes are matched by pid and start time. If there is no match, as after a restart
 * or between two recordings, processes are matched by command line, and if that fails
 * by name. Mappings are matched by name and owner. Mappings without a name are matched
 * if they belong to the same process and their addresses overlap.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_DIFF_H
#define MS_CLASSIFY_COMPARE_MOMENT_DIFF_H

#include "classify/cgroup/figures.h"
#include "model/usage.h"

/* The mappings of a process, as last read at or before the moment. */
struct moment_mappings {
	struct mapping_list list;
	/* time of the last reading; 0: never read, and the other members are unknown */
	uint64_t read_unix_ms;
	uint64_t owner_bytes[OWNER_COUNT_]; /* Rss by owner at read_unix_ms */
};

struct moment {
	uint64_t unix_ms;
	struct snapshot processes;
	struct moment_mappings *mappings; /* one element per process; owned */
	bool has_group;
	struct oom_figures group;
	char *group_path; /* owned */
};

void moment_init(struct moment *moment);
void moment_release(struct moment *moment);

enum moment_part {
	PART_TOTAL, /* sums over all processes */
	PART_STATE,
	/* sums by owner over all processes, from the last readings of their mappings */
	PART_OWNER,
	PART_GROUP,
	PART_PROCESS,
	PART_MAPPING,
	PART_COUNT_
};

/* Names of the parts (enum moment_part) in machine-readable output. */
extern const char *const moment_part_names[PART_COUNT_];

struct moment_change {
	enum moment_part part;
	/* Name of the figure, process or mapping; borrowed from the moments. */
	const char *name;
	/* owner of the mapping; OWNER_COUNT_ in rows that are not for a mapping */
	enum owner owner;
	/* The process at each moment; NULL: it did not exist at that moment. */
	const struct process *before_process, *after_process;
	/* start of a nameless mapping that was matched by address; else 0 */
	uint64_t start_addr;
	/*
	 * Bytes at the two moments, or BYTES_UNKNOWN. For processes and
	 * mappings, the bytes are Rss.
	 */
	uint64_t before, after;
};

struct moment_diff {
	/*
	 * Rows sorted by part, in the order of enum moment_part. Within a
	 * part, figures are in a fixed order; processes and mappings are
	 * sorted by the size of their change.
	 */
	struct moment_change *items;
	size_t count, capacity;
};

/*
 * Compare two moments. The result borrows from both. Unchanged mappings are not listed.
 */
void moment_diff_make(const struct moment *before, const struct moment *after,
		      struct moment_diff *ret);
void moment_diff_release(struct moment_diff *diff);

/* Return after - before, where BYTES_UNKNOWN counts as 0. */
int64_t moment_change_bytes(const struct moment_change *change);

#endif
