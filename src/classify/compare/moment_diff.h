/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_diff - compare the memory of processes at two moments: growth by owner, state,
 * process and mapping, and of their group. Pure.
 *
 * Processes are matched by pid and start time. If there is no match, as after a restart
 * or between two recordings, they are matched by command, and then by name. Mappings are
 * matched by name and owner. Mappings without a name are matched if they are in the same
 * process and their addresses overlap.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_DIFF_H
#define MS_CLASSIFY_COMPARE_MOMENT_DIFF_H

#include "classify/cgroup/figures.h"
#include "model/usage.h"

/* The mappings of a process, as read at the moment or last before it. */
struct moment_mappings {
	struct mapping_list list;
	uint64_t read_unix_ms; /* 0: never read; the fields below are then unknown */
	uint64_t owner_bytes[OWNER_COUNT_]; /* Rss by owner at that time */
};

struct moment {
	uint64_t unix_ms;
	struct snapshot processes;
	struct moment_mappings *mappings; /* one per process; owned */
	bool has_group;
	struct oom_figures group;
	char *group_path; /* owned */
};

void moment_init(struct moment *moment);
void moment_release(struct moment *moment);

enum moment_part {
	PART_TOTAL, /* sum over all processes */
	PART_STATE,
	PART_OWNER, /* sum over processes with mappings, at the time these were read */
	PART_GROUP,
	PART_PROCESS,
	PART_MAPPING,
	PART_COUNT_
};

/* Names of the parts as keys and columns. */
extern const char *const moment_part_names[PART_COUNT_];

struct moment_change {
	enum moment_part part;
	/* Name of the figure, process or mapping; borrowed from the moments. */
	const char *name;
	enum owner owner; /* owner of a mapping; else OWNER_COUNT_ */
	/* The process before and after; NULL: it did not exist. */
	const struct process *before_process, *after_process;
	uint64_t start_addr; /* for a nameless mapping in one process; else 0 */
	/* Bytes; Rss for processes and mappings; may be BYTES_UNKNOWN. */
	uint64_t before, after;
};

struct moment_diff {
	/*
	 * In order of part. Figures are in a fixed order, processes and mappings in order
	 * of the size of the change.
	 */
	struct moment_change *items;
	size_t count, capacity;
};

/* Compare two moments, which are borrowed. Unchanged mappings are not listed. */
void moment_diff_make(const struct moment *before, const struct moment *after,
		      struct moment_diff *ret);
void moment_diff_release(struct moment_diff *diff);

/* Return after - before, counting BYTES_UNKNOWN as 0. */
int64_t moment_change_bytes(const struct moment_change *change);

#endif
