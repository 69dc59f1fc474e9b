/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"
#include "classify/compare/moment_rows.h"

/*
 * Return true if the heaps of the process are known, or if the process did not exist at
 * the moment.
 */
static bool is_comparable(const struct moment_mappings *m)
{
	return !m || (moment_mappings_are_read(m) && m->heap_count > 0);
}

static bool has_heap(const struct moment_mappings *m, enum allocator allocator)
{
	for (size_t i = 0; m && i < m->heap_count; i++)
		if (m->heaps[i].allocator == allocator)
			return true;
	return false;
}

/*
 * Return the resident bytes of an owner in all heaps of an allocator. Return 0 if the
 * process has no such heap. Return BYTES_UNKNOWN if the allocator does not report the
 * owner's bytes separately.
 */
static uint64_t sum_owner(const struct moment_mappings *m, enum allocator allocator,
			  enum owner owner)
{
	uint64_t bytes = 0;

	for (size_t i = 0; m && i < m->heap_count; i++)
		if (m->heaps[i].allocator == allocator)
			bytes = bytes_add(bytes, m->heaps[i].owner_bytes[owner]);
	return bytes;
}

static void add_heap(struct moment_diff *diff, const struct moment_process *before,
		     const struct moment_process *after, enum allocator allocator)
{
	for (int o = 0; o <= OWNER_HEAP_LAST; o++) {
		struct moment_change *change;

		change = moment_row_add_process(diff, PART_HEAP, before->usage,
						after->usage);
		change->name = allocator_names[allocator];
		change->owner = (enum owner)o;
		change->before = sum_owner(before->mappings, allocator, change->owner);
		change->after = sum_owner(after->mappings, allocator, change->owner);
	}
}

void moment_rows_add_heaps(struct moment_diff *diff, const struct moment_process *before,
			   const struct moment_process *after)
{
	if (!is_comparable(before->mappings) || !is_comparable(after->mappings))
		return;
	for (int a = ALLOCATOR_UNKNOWN + 1; a < ALLOCATOR_COUNT_; a++)
		if (has_heap(before->mappings, (enum allocator)a) ||
		    has_heap(after->mappings, (enum allocator)a))
			add_heap(diff, before, after, (enum allocator)a);
}
