/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pre_copy_plan - decide which memory of a process is copied while the process runs, and
 * which in the pause.
 */
#ifndef MS_SAMPLE_HEAP_PRE_COPY_PLAN_H
#define MS_SAMPLE_HEAP_PRE_COPY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/heap/reader.h"
#include "tracee/memory/early_copy.h"

struct pre_copy_plan {
	struct early_range *ranges; /* memory to which writes can be tracked */
	size_t count;
	struct page_list mappings; /* all memory to be copied */
	/*
	 * true if a range is still tracked, because the copy of an earlier walk was kept
	 */
	bool is_tracked;
	uint64_t bytes;	      /* resident bytes in `ranges` */
	uint64_t other_bytes; /* resident bytes to be copied in the pause */
	uint64_t huge_bytes;
	/* true if the process, or another memstate, already uses userfaultfd */
	bool has_tracker;
};

/*
 * Plan the copy of the mappings. They must have been read with their counters. The caller
 * releases the plan.
 */
struct pre_copy_plan pre_copy_plan_make(const struct heap_reader *reader,
					const struct mapping_list *mappings);
void pre_copy_plan_release(struct pre_copy_plan *plan);

/* Return true if many of the pages are huge. Writes to tracked huge pages split them. */
bool pre_copy_plan_has_huge_pages(const struct pre_copy_plan *plan);

#endif
