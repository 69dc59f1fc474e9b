/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/reserve.h"

#include <errno.h>

#include "base/units.h"
#include "proc/cgroup/room.h"
#include "tracee/memory/early_copy.h"
#include "tracee/memory/peek.h"

/*
 * Memory to reserve for the pages that are copied in the pause, in addition to the
 * estimate from the last round.
 */
#define LATE_SPARE_BYTES (UINT64_C(32) << 20)

/*
 * Extra memory to reserve, because the heap may grow between the check
 * of its size and the pause.
 */
#define ROOM_SPARE_SHARE 16
#define ROOM_SPARE_BYTES (UINT64_C(4) << 20)

/* Return an upper bound on the resident bytes of the listed pages. */
static uint64_t listed_bytes(const struct heap_moment *moment)
{
	const struct page_list *list = &moment->pages;
	uint64_t sum = 0;
	size_t next = 0;

	for (size_t i = 0; i < moment->mappings.count; i++) {
		const struct mapping *m = &moment->mappings.items[i];
		uint64_t resident = mapping_copyable_bytes(m);
		uint64_t bytes = 0;

		while (next < list->count && list->items[next].end_addr <= m->start_addr)
			next++;
		for (size_t k = next;
		     k < list->count && list->items[k].start_addr < m->end_addr; k++) {
			const struct page_range *range = &list->items[k];

			bytes += (range->end_addr < m->end_addr ? range->end_addr
								: m->end_addr) -
				 (range->start_addr > m->start_addr ? range->start_addr
								    : m->start_addr);
		}
		sum += bytes < resident ? bytes : resident;
	}
	return sum;
}

/*
 * Return the number of resident bytes outside the ranges that are copied before
 * the pause.
 */
static uint64_t unregistered_bytes(const struct heap_moment *moment)
{
	const struct early_copy *early = &moment->early;
	uint64_t sum = 0;
	size_t next = 0;

	for (size_t i = 0; i < moment->mappings.count; i++) {
		const struct mapping *m = &moment->mappings.items[i];

		while (next < early->range_count &&
		       early->ranges[next].end_addr <= m->start_addr)
			next++;
		if ((next == early->range_count ||
		     early->ranges[next].start_addr >= m->end_addr) &&
		    heap_moment_wants(moment->reader, m))
			sum = bytes_add(sum, mapping_copyable_bytes(m));
	}
	return bytes_known(sum) ? sum : 0;
}

/*
 * Copy the pages that were written since the previous round, that is, while smaps was
 * read, and reserve memory for the pages that will be copied in the pause.
 */
static int copy_early(struct heap_moment *moment)
{
	const struct peek peek = {
		.pid = moment->memory_pid,
		.pagemap_fd = moment->pagemap_fd,
		.mem_fd = moment->mem_fd,
		.is_running = true,
	};
	uint64_t pages;
	int r = early_copy_round(&moment->early, &peek, UINT64_MAX, &pages);

	if (r < 0)
		return r;
	return image_reserve(&moment->packed, pages * IMAGE_PAGE_BYTES +
						      unregistered_bytes(moment) +
						      LATE_SPARE_BYTES);
}

int heap_moment_reserve(struct heap_moment *moment)
{
	uint64_t bytes = heap_moment_bytes(moment->reader, &moment->mappings);

	if (heap_moment_is_early(moment))
		return copy_early(moment);
	if (moment->image.is_sparse)
		return image_reserve(&moment->packed, listed_bytes(moment));
	return bytes_known(bytes) ? image_reserve(&moment->image, bytes) : 0;
}

int heap_make_room(struct heap_reader *reader, uint64_t bytes, struct heap *ret)
{
	uint64_t had_bytes;
	struct room room;
	int r = 0;

	/* the pages that a survey has read do not count as used memory */
	if (reader->image.is_sparse)
		image_release(&reader->image);
	had_bytes = reader->image.capacity_bytes;
	bytes += bytes / ROOM_SPARE_SHARE + ROOM_SPARE_BYTES;
	if (had_bytes >= bytes)
		return 0;
	room = proc_room_read(reader->fs);
	ret->needed_bytes = bytes - had_bytes + bytes / HEAP_TABLES_SHARE;
	ret->room_bytes = room.bytes;
	ret->room_limit = room.limit;
	if (bytes_known(room.bytes) &&
	    ret->needed_bytes > room.bytes - room.bytes / HEAP_OTHERS_SHARE)
		r = -ENOMEM;
	return r ? r : image_reserve(&reader->image, bytes);
}
