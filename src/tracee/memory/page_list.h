/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_list - a set of pages of a process, as ranges of addresses. */
#ifndef MS_TRACEE_MEMORY_PAGE_LIST_H
#define MS_TRACEE_MEMORY_PAGE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

struct page_range {
	uint64_t start_addr, end_addr; /* page-aligned; end_addr is exclusive */
};

struct page_list {
	struct page_range *items;
	size_t count, capacity;
};

#define PAGE_LIST_INIT     \
	{                  \
		NULL, 0, 0 \
	}

void page_list_add(struct page_list *list, uint64_t start_addr, uint64_t end_addr);

/* Sort the ranges by address, and merge those that overlap or touch each other. */
void page_list_sort(struct page_list *list);

/* Return the number of bytes in all ranges of a sorted list. */
uint64_t page_list_bytes(const struct page_list *list);

/*
 * Find the pages of `image` that are in the sorted list, and add them to *ret, which must
 * be empty. Return 0 or an error of image_add_run().
 */
int page_list_select(const struct page_list *list, const struct image *image,
		     struct image *ret);

void page_list_release(struct page_list *list);

#endif
