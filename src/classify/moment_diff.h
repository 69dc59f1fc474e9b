/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_diff - the memory of processes at two moments compared: what grew, by owner, state,
 * process and mapping, and of their group. Pure.
 *
 * The same process is the same pid and start; else, as after a restart or in two recordings, one of
 * the same command, and else of the same name. Mappings are the same by name and owner; those
 * without a name, in the same process, where their addresses overlap.
 */
#ifndef MS_CLASSIFY_MOMENT_DIFF_H
#define MS_CLASSIFY_MOMENT_DIFF_H

#include "classify/oom_figures.h"
#include "model/usage.h"

/* The mappings of a process, as they were read last before the moment, or in it. */
struct moment_mappings {
	struct mapping_list list;
	uint64_t read_unix_ms;		     /* 0: they were never read, and nothing below is known */
	uint64_t owner_bytes[OWNER_COUNT_];  /* Rss by owner then */
};

struct moment {
	uint64_t unix_ms;
	struct snapshot processes;
	struct moment_mappings *mappings; /* one of each process; owned */
	bool has_group;
	struct oom_figures group;
	char *group_path; /* owned */
};

void moment_init(struct moment *moment);
void moment_release(struct moment *moment);

enum moment_part {
	PART_TOTAL, /* of all processes together */
	PART_STATE,
	PART_OWNER, /* of those whose mappings were read, as of then */
	PART_GROUP,
	PART_PROCESS,
	PART_MAPPING,
	PART_COUNT_
};

/* A word for each, as keys and columns have it. */
extern const char *const moment_part_names[PART_COUNT_];

struct moment_change {
	enum moment_part part;
	const char *name; /* of the figure, process or mapping: borrowed from the moments */
	enum owner owner; /* of a mapping; else OWNER_COUNT_ */
	const struct process *before_process, *after_process; /* whose it is; NULL: there is none */
	uint64_t start_addr; /* of a mapping without a name in one process; else 0 */
	uint64_t before, after; /* bytes, of processes and mappings Rss; may be BYTES_UNKNOWN */
};

struct moment_diff {
	/* By part; figures in a fixed order, processes and mappings by the size of the change. */
	struct moment_change *items;
	size_t count, capacity;
};

/* Borrows both. Mappings that stayed the same are not listed. */
void moment_diff_make(const struct moment *before, const struct moment *after,
		      struct moment_diff *ret);
void moment_diff_release(struct moment_diff *diff);

/* after - before; BYTES_UNKNOWN counts as 0 then. */
int64_t moment_change_bytes(const struct moment_change *change);

#endif
