/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_leaks - what a scan for leaks found, by value, and the scan itself.
 */
#ifndef MS_UI_HEAP_LEAKS_H
#define MS_UI_HEAP_LEAKS_H

#include <stdbool.h>

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/content.h"
#include "walk/mark.h"

struct heap_reader;

/* Leaked blocks of one type, size and look. */
struct leak_kind {
	char *type; /* NULL: not known */
	enum content content;
	uint64_t block_bytes; /* of each */
	struct chunk_sum sum;
	struct chunk_sum indirect; /* that only these, or what they reach, reach */
	uint64_t example_addr;
};

struct heap_leaks {
	bool is_done; /* a scan was made; without, there is nothing below */
	/* exact; bound: at most so much; unknown: nothing but the problem */
	enum quality quality;
	const char *problem;
	uint64_t swapped_bytes; /* that could not be looked at */
	struct chunk_sum live, reachable, direct, indirect;
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t scanned_bytes, mark_ns;
	uint64_t taken_ns;
	struct leak_kind *kinds; /* the largest; most bytes first */
	size_t kind_count;
	size_t all_kind_count;
};

void heap_leaks_release(struct heap_leaks *leaks);

/*
 * Read the heap of *u and scan it. Returns as leak_scan_run(); *ret_mappings and
 * *ret_heap are as heap_reader_read() sets them, and *ret is initialised.
 */
int heap_leaks_scan(struct heap_reader *reader, struct usage *u, const struct mark_progress *progress,
		    struct mapping_list *ret_mappings, struct heap *ret_heap,
		    struct heap_leaks *ret);

#endif
