/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_kinds - copy the results of a leak scan, so that threads other than the heap
 * reader's can use them.
 */
#ifndef MS_SAMPLE_HEAP_LEAK_KINDS_H
#define MS_SAMPLE_HEAP_LEAK_KINDS_H

#include <stdbool.h>

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/blocks/content.h"
#include "walk/mark/mark.h"

struct heap_reader;

/*
 * A kind of leaked blocks: the blocks with the same type, size and category of content.
 */
struct leak_kind {
	char *type; /* name of the blocks' type, or NULL if the type is unknown */
	enum content content;
	uint64_t block_bytes; /* size of each block */
	struct chunk_sum sum;
	/* blocks that are reachable only from blocks of this kind */
	struct chunk_sum indirect;
	uint64_t example_addr;
};

struct heap_leaks {
	/* true if a leak scan was made; otherwise the members below are unset */
	bool is_done;
	/*
	 * If the quality is "bound", the leaked amounts are upper bounds. If the quality
	 * is "unknown", only `problem` is set.
	 */
	enum quality quality;
	const char *problem;
	/* memory that could not be scanned because it was swapped out */
	uint64_t swapped_bytes;
	struct chunk_sum live, reachable, direct, indirect;
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t scanned_bytes, mark_ns;
	uint64_t taken_ns;	 /* time when the heap read began */
	struct leak_kind *kinds; /* the kinds with the most leaked bytes, largest first */
	size_t kind_count;
	size_t all_kind_count;
};

void heap_leaks_release(struct heap_leaks *leaks);

/*
 * Scan a heap that was just read for leaks by calling leak_scan_mark() and
 * leak_scan_group(), and copy the results to *ret except for ret->taken_ns. Return 0; or
 * -ECANCELED, leaving *ret unchanged.
 */
int heap_leaks_scan(struct heap_reader *reader, const struct mapping_list *mappings,
		    const struct heap *heap, const struct mark_progress *progress,
		    struct heap_leaks *ret);

#endif
