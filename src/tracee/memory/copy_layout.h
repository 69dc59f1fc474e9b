/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy_layout - map the addresses of a process to offsets in a store, such that an
 * address keeps its offset while the process maps and unmaps memory. For this purpose,
 * each span of addresses has a reserve of unused addresses at both ends, which takes no
 * memory.
 */
#ifndef MS_TRACEE_MEMORY_COPY_LAYOUT_H
#define MS_TRACEE_MEMORY_COPY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracee/memory/page_list.h"

/* A range of addresses whose offsets are consecutive. */
struct copy_span {
	uint64_t start_addr, end_addr;
	uint64_t offset_bytes;
};

struct copy_layout {
	/* sorted by address, and therefore also by offset; no two spans touch */
	struct copy_span *spans;
	size_t count;
	uint64_t bytes; /* sum of the lengths of all spans */
};

#define COPY_LAYOUT_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Make a layout for memory at these addresses, which must be sorted. Each offset is
 * congruent to its address modulo the size of a huge page. Return false, with an empty
 * layout, if the list is empty, or if the spans would exceed max_bytes in total.
 */
bool copy_layout_make(struct copy_layout *layout, const struct page_list *list,
		      uint64_t max_bytes);

void copy_layout_release(struct copy_layout *layout);

/*
 * If [start_addr, end_addr) is in one span, store the offset of start_addr, and
 * return true.
 */
bool copy_layout_find(const struct copy_layout *layout, uint64_t start_addr,
		      uint64_t end_addr, uint64_t *ret_offset);

/* Return true if the layout contains all addresses of the list. */
bool copy_layout_contains(const struct copy_layout *layout, const struct page_list *list);

#endif
