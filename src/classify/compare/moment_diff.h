/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment_diff - compare the memory of processes at two moments: the growth by owner,
 * state, process, heap and mapping, and the growth of their cgroup. The functions
 * are pure.
 *
 * Processes are matched by pid and start time. If none matches, for example after a
 * restart or between two recordings, they are matched by command line or else by name.
 * Mappings are matched by name and owner. Mappings without a name match if they belong to
 * the same process and their addresses overlap.
 */
#ifndef MS_CLASSIFY_COMPARE_MOMENT_DIFF_H
#define MS_CLASSIFY_COMPARE_MOMENT_DIFF_H

#include "classify/cgroup/figures.h"
#include "model/usage.h"

/* Mappings of a process, as last read at or before the moment. */
struct moment_mappings {
	struct mapping_list list;
	/*
	 * time of the reading; 0: the mappings were never read, and all other members
	 * are unknown
	 */
	uint64_t read_unix_ms;
	/* Rss by owner at read_unix_ms */
	uint64_t owner_bytes[OWNER_COUNT_];
	/* heaps at read_unix_ms; heap_count is 0 if no heap was read */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
};

struct moment {
	uint64_t unix_ms;
	struct snapshot processes;
	/* mappings of each process; the array is owned */
	struct moment_mappings *mappings;
	bool has_group;
	struct oom_figures group;
	char *group_path; /* owned */
};

/*
 * Copy the Rss by owner and the heaps from *usage to *m. The mappings of the process must
 * have been read at read_unix_ms.
 */
void moment_mappings_set(struct moment_mappings *m, const struct usage *usage,
			 uint64_t read_unix_ms);

void moment_init(struct moment *moment);
void moment_release(struct moment *moment);

enum moment_part {
	PART_TOTAL, /* figures of all processes together */
	PART_STATE,
	/*
	 * sums by owner over all processes, from the last reading of each
	 * process's mappings
	 */
	PART_OWNER,
	PART_GROUP,
	PART_PROCESS,
	PART_HEAP, /* resident bytes of one owner in one heap of a process */
	PART_MAPPING,
	PART_COUNT_
};

/* Names of the parts of a comparison (enum moment_part) in JSON and CSV output. */
extern const char *const moment_part_names[PART_COUNT_];

struct moment_change {
	enum moment_part part;
	/*
	 * Name of the figure, process or mapping in this row, borrowed from the moments.
	 * For a heap, the name of its allocator.
	 */
	const char *name;
	/* owner of the mapping, or of the bytes in the heap; otherwise OWNER_COUNT_ */
	enum owner owner;
	/*
	 * the process at the two moments; NULL: the process did not exist at that moment
	 */
	const struct process *before_process, *after_process;
	/* start address of a nameless mapping that was matched by address; otherwise 0 */
	uint64_t start_addr;
	/*
	 * Amounts in bytes at the two moments, or BYTES_UNKNOWN. For processes, heaps
	 * and mappings, the amounts are Rss.
	 */
	uint64_t before, after;
};

struct moment_diff {
	/*
	 * Rows in the order of enum moment_part. Within a part, figures have a fixed
	 * order; processes, heaps and mappings are sorted by the size of their change.
	 */
	struct moment_change *items;
	size_t count, capacity;
};

/*
 * Compare two moments. The result borrows strings from both moments.
 * Unchanged mappings are omitted.
 */
void moment_diff_make(const struct moment *before, const struct moment *after,
		      struct moment_diff *ret);
void moment_diff_release(struct moment_diff *diff);

/* Return the change in bytes, after - before, where BYTES_UNKNOWN counts as 0. */
int64_t moment_change_bytes(const struct moment_change *change);

#endif
