/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_kinds - a leak scan of a heap, and a copy of its results.
 */
#ifndef MS_SAMPLE_HEAP_LEAK_KINDS_H
#define MS_SAMPLE_HEAP_LEAK_KINDS_H

#include <stdbool.h>

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/blocks/content.h"
#include "walk/mark/mark.h"

struct heap_reader;

/* Leaked blocks with the same type, size and kind of content. */
struct leak_kind {
	char *type; /* NULL: unknown */
	enum content content;
	uint64_t block_bytes; /* size of each block */
	struct chunk_sum sum;
	struct chunk_sum indirect; /* blocks reachable only from blocks of this kind */
	uint64_t example_addr;
};

struct heap_leaks {
	bool is_done; /* a scan was made; if not, the members below are unset */
	/*
	 * exact; bound: the leaked amounts are upper bounds; unknown: only
	 * `problem` is set
	 */
	enum quality quality;
	const char *problem;
	uint64_t swapped_bytes; /* swapped out, so not scanned */
	struct chunk_sum live, reachable, direct, indirect;
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t scanned_bytes, mark_ns;
	uint64_t taken_ns;
	struct leak_kind *kinds; /* the largest kinds; most bytes first */
	size_t kind_count;
	size_t all_kind_count;
};

void heap_leaks_release(struct heap_leaks *leaks);

/*
 * Read the heap of *u and scan it for leaks. Returns the same values as
 * leak_scan_run(). *ret_mappings and *ret_heap are set as by heap_reader_read(); *ret
 * is always initialised.
 */
int heap_leaks_scan(struct heap_reader *reader, struct usage *u,
		    const struct mark_progress *progress,
		    struct mapping_list *ret_mappings, struct heap *ret_heap,
		    struct heap_leaks *ret);

#endif
