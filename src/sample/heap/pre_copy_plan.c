/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/pre_copy_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sample/heap/moment.h"

/* Mappings with fewer resident bytes than this are copied in the pause. */
#define RANGE_MIN_BYTES (UINT64_C(256) << 10)

/*
 * A process is assumed to rely on huge pages if they contain more than 1/HUGE_SHARE
 * of its heap.
 */
#define HUGE_SHARE 10

/* A range is copied to huge pages if at most 1/FULL_SHARE of its pages are absent. */
#define FULL_SHARE 32

static bool is_anonymous(const struct mapping *m)
{
	return m->inode == 0 && (m->name[0] == '\0' || strcmp(m->name, "[heap]") == 0 ||
				 strncmp(m->name, "[anon:", strlen("[anon:")) == 0);
}

/* Return true if writes to the mapping can be tracked, and tracking is worthwhile. */
static bool is_trackable(const struct heap_reader *reader, const struct mapping *m)
{
	return heap_moment_wants(reader, m) && is_anonymous(m) &&
	       (m->flags & (MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED |
			    MAPPING_HUGETLB | MAPPING_GROWS_DOWN)) ==
		       (MAPPING_READ | MAPPING_WRITE) &&
	       m->counters.bytes[SMAPS_RSS] >= RANGE_MIN_BYTES;
}

struct pre_copy_plan pre_copy_plan_make(const struct heap_reader *reader,
					const struct mapping_list *mappings)
{
	struct pre_copy_plan plan = { .ranges = xcalloc(mappings->count + 1,
							sizeof(*plan.ranges)) };
	uint64_t done_addr = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		uint64_t rss = m->counters.bytes[SMAPS_RSS];

		if (m->flags & MAPPING_USERFAULT ||
		    (m->flags & MAPPING_WRITE_TRACKED && !reader->has_tracked))
			plan.has_tracker = true;
		if (!heap_moment_wants(reader, m) || m->start_addr < done_addr)
			continue;
		page_list_add(&plan.mappings, m->start_addr, m->end_addr);
		if (!is_trackable(reader, m)) {
			plan.other_bytes += mapping_copyable_bytes(m);
			continue;
		}
		plan.ranges[plan.count++] = (struct early_range){
			.start_addr = m->start_addr,
			.end_addr = m->end_addr,
			.is_shared = heap_moment_may_share_pages(m),
			.is_tracked = m->flags & MAPPING_WRITE_TRACKED,
			.wants_huge = m->end_addr - m->start_addr - rss <=
				      rss / FULL_SHARE,
		};
		plan.is_tracked |= plan.ranges[plan.count - 1].is_tracked;
		plan.bytes += rss;
		plan.huge_bytes += m->counters.bytes[SMAPS_ANON_HUGE];
		done_addr = m->end_addr;
	}
	return plan;
}

void pre_copy_plan_release(struct pre_copy_plan *plan)
{
	free(plan->ranges);
	page_list_release(&plan->mappings);
}

bool pre_copy_plan_has_huge_pages(const struct pre_copy_plan *plan)
{
	return plan->huge_bytes > plan->bytes / HUGE_SHARE;
}
