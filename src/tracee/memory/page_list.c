/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/page_list.h"

#include <stdlib.h>

#include "base/xalloc.h"

void page_list_add(struct page_list *list, uint64_t start_addr, uint64_t end_addr)
{
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = (struct page_range){ start_addr, end_addr };
}

static int compare_ranges(const void *a, const void *b)
{
	const struct page_range *r_a = a, *r_b = b;

	return (r_a->start_addr > r_b->start_addr) - (r_a->start_addr < r_b->start_addr);
}

void page_list_sort(struct page_list *list)
{
	size_t merged = 0;

	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_ranges);
	for (size_t i = 0; i < list->count; i++) {
		struct page_range *last = merged > 0 ? &list->items[merged - 1] : NULL;

		if (last && list->items[i].start_addr <= last->end_addr) {
			if (list->items[i].end_addr > last->end_addr)
				last->end_addr = list->items[i].end_addr;
		} else {
			list->items[merged++] = list->items[i];
		}
	}
	list->count = merged;
}

uint64_t page_list_bytes(const struct page_list *list)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->count; i++)
		sum += list->items[i].end_addr - list->items[i].start_addr;
	return sum;
}

int page_list_select(const struct page_list *list, const struct image *image,
		     struct image *ret)
{
	size_t run = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->count; i++) {
		const struct page_range *range = &list->items[i];

		while (run < image->run_count &&
		       image->runs[run].end_addr <= range->start_addr)
			run++;
		for (size_t k = run; r == 0 && k < image->run_count &&
				     image->runs[k].start_addr < range->end_addr;
		     k++) {
			uint64_t start = image->runs[k].start_addr;
			uint64_t end = image->runs[k].end_addr;

			if (start < range->start_addr)
				start = range->start_addr;
			if (end > range->end_addr)
				end = range->end_addr;
			r = image_add_run(ret, start, end);
		}
	}
	return r;
}

void page_list_release(struct page_list *list)
{
	free(list->items);
	*list = (struct page_list)PAGE_LIST_INIT;
}
