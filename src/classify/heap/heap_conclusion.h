/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_conclusion - write the first sentences of the reports about a heap and its leaks,
 * and suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H
#define MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H

#include "classify/heap/block_groups.h"
#include "classify/heap/leaks.h"
#include "model/conclusion.h"
#include "model/heap.h"

/*
 * Add sentences about Rss, about the allocated and free parts of the heap, and about the
 * memory that a trim would release. Suggest the next command. The quality of the heap
 * must not be QUALITY_UNKNOWN.
 */
void heap_conclude(struct conclusion *c, const struct usage *u, const struct heap *heap,
		   const struct next_place *place);

/*
 * Add sentences about live and leaked memory, and suggest the next command. The quality
 * of the leak scan must not be QUALITY_UNKNOWN. `fresh` contains sorted groups of new
 * reachable blocks; the suggested command explains a block of one of them. `fresh` is
 * NULL if new blocks were not requested.
 */
void leaks_conclude(struct conclusion *c, const struct usage *u,
		    const struct leak_scan *scan, const struct block_groups *fresh,
		    const struct next_place *place);

/* A process with leaked blocks. */
struct leaking_process {
	struct process process;
	uint64_t bytes; /* leaked bytes */
	bool is_bound;	/* true if the leaked bytes are an upper bound */
};

/* Processes that were searched for leaked blocks. */
struct leaking_list {
	struct leaking_process *items; /* processes with leaked blocks */
	size_t count, capacity;
	size_t process_count; /* number of processes, with or without leaked blocks */
	size_t unknown_count; /* number of processes that could not be searched */
};

/* Sort the processes by leaked bytes, and add a sentence about all of them. */
void leaks_conclude_all(struct conclusion *c, struct leaking_list *list);

#endif
