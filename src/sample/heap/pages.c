/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/recount.h"
#include "proc/smaps/maps.h"

/*
 * Maximum number of searches for the resident pages while the kernel migrates pages, and
 * the delay between two searches. Moving a page takes a few microseconds.
 */
#define MIGRATION_TRIES 5
#define MIGRATION_DELAY_NS (200 * NS_PER_US)

/*
 * Maximum age of the caller's reading of smaps before the pause. An older
 * reading is repeated.
 */
#define SMAPS_AGE_NS NS_PER_S

static size_t choose_ranges(const struct heap_reader *reader,
			    const struct mapping_list *mappings, struct peek_range *ret)
{
	uint64_t done_addr = 0;
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		/*
		 * A mapping that grows while smaps is read may appear twice in smaps, the
		 * first time with its old end.
		 */
		uint64_t start = m->start_addr > done_addr ? m->start_addr : done_addr;

		if (!heap_moment_wants(reader, m) || start >= m->end_addr)
			continue;
		ret[count++] = (struct peek_range){
			.start_addr = start,
			.end_addr = m->end_addr,
			.is_shared = heap_moment_may_share_pages(m),
			.is_anonymous_only = m->flags & MAPPING_REMOTE,
		};
		done_addr = m->end_addr;
	}
	return count;
}

/*
 * Return true if the kernel is migrating pages. While it moves a page, pagemap reports
 * the page as swapped out, but smaps does not.
 */
static bool is_migrating(const struct heap_moment *moment,
			 const struct heap_ranges *ranges)
{
	uint64_t swapped_bytes = 0, swap_bytes = 0;

	for (size_t i = 0; i < ranges->count; i++)
		swapped_bytes += ranges->items[i].swapped_bytes;
	for (size_t i = 0; i < moment->mappings.count; i++)
		swap_bytes = bytes_add(
			swap_bytes, moment->mappings.items[i].counters.bytes[SMAPS_SWAP]);
	return bytes_known(swap_bytes) && swapped_bytes > swap_bytes;
}

int heap_pages_find(struct heap_moment *moment, const struct peek *peek,
		    struct heap_ranges *ranges)
{
	const struct timespec delay = { .tv_nsec = MIGRATION_DELAY_NS };

	for (int tries = 1;; tries++) {
		int r;

		image_clear(&moment->image);
		ranges->items = xrealloc(ranges->items, (moment->mappings.count + 1) *
								sizeof(*ranges->items));
		ranges->count =
			choose_ranges(moment->reader, &moment->mappings, ranges->items);
		r = peek_find(peek, ranges->items, ranges->count, &moment->image);
		if (r < 0 || tries == MIGRATION_TRIES || !is_migrating(moment, ranges))
			return r;
		nanosleep(&delay, NULL);
	}
}

/*
 * Adjust the figures of smaps to the resident pages that were found. Return false if this
 * is not possible, so smaps must be read again.
 */
static bool recount(struct heap_moment *moment, const struct heap_ranges *ranges)
{
	size_t next = 0;

	for (size_t i = 0; i < moment->mappings.count && next < ranges->count; i++) {
		struct mapping *m = &moment->mappings.items[i];
		const struct peek_range *range = &ranges->items[next];
		enum recount result;

		if (m->end_addr != range->end_addr)
			continue;
		result = recount_mapping(m, range->resident_bytes, range->swapped_bytes);
		if (result == RECOUNT_UNKNOWN)
			return false;
		moment->is_recounted |= result == RECOUNT_CHANGED;
		next++;
	}
	return true;
}

int heap_pages_find_stopped(struct heap_moment *moment, const struct peek *peek,
			    const struct stop *stop, struct heap_ranges *ranges)
{
	struct sampler *sampler = moment->reader->sampler;
	bool is_right = proc_maps_are(moment->process_fd, &moment->mappings);
	bool was_paced;
	int r;

	if (is_right && !stop_has_ended(stop)) {
		r = heap_pages_find(moment, peek, ranges);
		if (r < 0)
			return r;
		is_right = recount(moment, ranges);
	}
	if (stop_has_ended(stop))
		return -ETIMEDOUT;
	if (is_right)
		return 0;
	/* resume the target now if there is not enough time to read smaps again */
	if (stop->deadline_ns &&
	    clock_now_ns() + moment->usage.read_ns > stop->deadline_ns)
		return -ESTALE;
	moment->is_recounted = false;
	/*
	 * The sampler need not release the mmap lock for waiting threads, because the
	 * threads of a paused target do not wait for locks.
	 */
	was_paced = sampler_set_paced(sampler, false);
	r = sampler_read_mappings(sampler, &moment->usage, &moment->mappings);
	if (stop_has_ended(stop))
		return -ETIMEDOUT;
	sampler_set_paced(sampler, was_paced);
	return r < 0 ? r : heap_pages_find(moment, peek, ranges);
}

/*
 * Adjust the figures of smaps to the pages that are now resident. Return false if
 * smaps must be read again, because the mappings have changed or the figures cannot
 * be adjusted.
 */
static bool is_current(struct heap_moment *moment)
{
	const struct peek peek = { .pagemap_fd = moment->pagemap_fd,
				   .mem_fd = moment->mem_fd,
				   .thread_count = thread_count_cpus() };
	struct heap_ranges ranges = { NULL, 0 };
	bool result = proc_maps_are(moment->process_fd, &moment->mappings) &&
		      heap_pages_find(moment, &peek, &ranges) == 0 &&
		      recount(moment, &ranges);

	image_clear(&moment->image);
	free(ranges.items);
	return result;
}

int heap_pages_read_mappings(struct heap_moment *moment, const struct usage *u,
			     const struct mapping_list *mappings)
{
	if (mappings && !(moment->is_running && !moment->image.is_sparse) &&
	    u->source == SOURCE_SMAPS && clock_now_ns() - u->taken_ns < SMAPS_AGE_NS) {
		moment->usage = *u;
		for (size_t i = 0; i < mappings->count; i++)
			mapping_list_add(&moment->mappings, &mappings->items[i]);
		if (is_current(moment))
			return 0;
	}
	moment->is_recounted = false;
	usage_init(&moment->usage);
	moment->usage.process = u->process;
	/* borrow the command line instead of reading it again */
	moment->usage.command = u->command;
	return sampler_read_mappings(moment->reader->sampler, &moment->usage,
				     &moment->mappings);
}
