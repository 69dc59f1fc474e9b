/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/heap_detail.h"

#include <stdlib.h>

const char *const page_fill_names[FILL_COUNT_] = {
	[FILL_NONE] = "0%",	 [FILL_TO_25] = "1-25%",  [FILL_TO_50] = "26-50%",
	[FILL_TO_75] = "51-75%", [FILL_TO_99] = "76-99%", [FILL_ALL] = "100%",
};

enum page_fill page_fill_of(uint64_t free_bytes, uint64_t page_bytes)
{
	uint64_t used_bytes = free_bytes < page_bytes ? page_bytes - free_bytes : 0;

	if (used_bytes == 0)
		return FILL_NONE;
	if (used_bytes == page_bytes)
		return FILL_ALL;
	return FILL_TO_25 + (enum page_fill)((used_bytes * 4 - 1) / page_bytes);
}

const struct heap_detail *heap_detail_at(const struct heap_detail *detail, size_t index)
{
	if (detail && index > 0)
		detail = index <= detail->other_count ? &detail->others[index - 1] : NULL;
	return detail && detail->has_pages ? detail : NULL;
}

const struct heap_objects *heap_detail_objects(const struct heap_detail *detail,
					       enum allocator allocator)
{
	for (size_t i = 0; detail && i < detail->object_list_count; i++)
		if (detail->objects[i].allocator == allocator)
			return &detail->objects[i];
	return NULL;
}

void heap_detail_release(struct heap_detail *detail)
{
	for (size_t i = 0; i < detail->object_list_count; i++)
		heap_objects_release(&detail->objects[i]);
	free(detail->objects);
	for (size_t i = 0; i < detail->other_count; i++)
		heap_detail_release(&detail->others[i]);
	free(detail->others);
	for (size_t i = 0; i < detail->type_count; i++)
		free(detail->types[i].name);
	for (size_t i = 0; i < detail->strip_count; i++)
		free(detail->strips[i].cells);
	free(detail->types);
	free(detail->pins);
	free(detail->strips);
	*detail = (struct heap_detail)HEAP_DETAIL_INIT;
}
