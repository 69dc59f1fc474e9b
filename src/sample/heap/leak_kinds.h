/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_kinds - copies of the results of a leak scan, which can be used in threads other
 * than the reader's.
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
	char *type; /* name of the type; NULL if it is unknown */
	enum content content;
	uint64_t block_bytes; /* size of each block */
	struct chunk_sum sum;
	struct chunk_sum indirect; /* blocks reachable only from blocks of this kind */
	uint64_t example_addr;
};

struct heap_leaks {
	bool is_done; /* true if a scan was made; if not, the members below are unset */
	/*
	 * If the quality is "bound", the leaked amounts are upper bounds. If the quality
	 * is "unknown", only `problem` is set.
	 */
	enum quality quality;
	const char *problem;
	/* memory that was swapped out and therefore not scanned */
	uint64_t swapped_bytes;
	struct chunk_sum live, reachable, direct, indirect;
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t scanned_bytes, mark_ns;
	uint64_t taken_ns;	 /* start time of the heap read */
	struct leak_kind *kinds; /* the kinds with the most leaked bytes, largest first */
	size_t kind_count;
	size_t all_kind_count;
};

void heap_leaks_release(struct heap_leaks *leaks);

/*
 * Scan a heap that was just read for leaks with leak_scan_mark() and
 * leak_scan_group(), and copy the results to *ret, except ret->taken_ns. Returns
 * 0; or -ECANCELED with *ret unchanged.
 */
int heap_leaks_scan(struct heap_reader *reader, const struct mapping_list *mappings,
		    const struct heap *heap, const struct mark_progress *progress,
		    struct heap_leaks *ret);

#endif
