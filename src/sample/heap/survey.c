/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/survey.h"

#include <errno.h>

#include "base/units.h"
#include "sample/heap/moment.h"
#include "tracee/memory/lazy.h"

/*
 * The pages around those that were read are copied too, in aligned blocks of this size.
 * An allocator's data grows at its end, so the walkers may read more pages in the pause.
 */
#define BLOCK_BYTES (UINT64_C(64) << 10)

/* Number of attempts to walk the heap while the process runs. */
#define SURVEYS 3

/* A mapping with at most this many resident bytes is copied completely. */
#define SMALL_BYTES (UINT64_C(256) << 10)

static uint64_t page_max(const struct heap_reader *reader)
{
	return reader->image.length_bytes / IMAGE_PAGE_BYTES / SURVEY_PAGES_SHARE;
}

/*
 * Walk the heap, and add the pages that were read but not copied to reader->pages.
 * Returns the number of ranges that were added, -EFBIG if there are too many pages, or
 * another -errno.
 */
static int watch_walk(struct heap_reader *reader, const struct walk_input *input,
		      int mem_fd, struct heap *ret)
{
	struct page_list pages = PAGE_LIST_INIT;
	struct lazy *lazy;
	int r;

	heap_release(ret);
	blocks_release(&reader->blocks);
	r = lazy_start(&reader->image, mem_fd, page_max(reader), &lazy);
	if (r < 0)
		return r;
	walk_heap(input, ret, &reader->blocks);
	r = lazy_stop(lazy, &pages, &reader->survey_cpu_ns) ? (int)pages.count : -EFBIG;
	for (size_t i = 0; i < pages.count; i++)
		page_list_add(&reader->pages,
			      pages.items[i].start_addr & ~(BLOCK_BYTES - 1),
			      (pages.items[i].end_addr + IMAGE_PAGE_BYTES + BLOCK_BYTES -
			       1) & ~(BLOCK_BYTES - 1));
	page_list_release(&pages);
	page_list_sort(&reader->pages);
	return r;
}

/*
 * Walk the heap of the running process until the walkers understand it. They stop early
 * if the process changes the heap at the same moment.
 */
static int survey_running(struct heap_reader *reader, const struct walk_input *input,
			  int mem_fd)
{
	struct heap heap;
	int r = 0;

	heap_init(&heap);
	for (int i = 0; i < SURVEYS && r >= 0; i++) {
		image_drop_pages(&reader->image);
		r = watch_walk(reader, input, mem_fd, &heap);
		if (heap_total_quality(&heap) >= QUALITY_BOUND)
			break;
	}
	heap_release(&heap);
	blocks_release(&reader->blocks);
	return r < 0 ? r : 0;
}

/* Add the mappings with few resident pages, and return the number of these bytes. */
static uint64_t add_small_mappings(struct heap_reader *reader,
				   const struct mapping_list *mappings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!heap_moment_wants(reader, m) ||
		    m->counters.bytes[SMAPS_RSS] > SMALL_BYTES)
			continue;
		page_list_add(&reader->pages, m->start_addr, m->end_addr);
		sum += m->counters.bytes[SMAPS_RSS];
	}
	return sum;
}

int heap_survey(struct heap_reader *reader, const struct usage *u,
		const struct mapping_list *mappings, uint64_t *ret_bytes,
		uint64_t *stopped_ns)
{
	struct heap_moment *moment;
	struct walk_input input;
	uint64_t pause_ns;
	int r;

	image_make_sparse(&reader->image);
	reader->pages.count = 0;
	reader->is_running = true;
	r = heap_moment_take(reader, u, &moment, &pause_ns);
	reader->is_running = false;
	*stopped_ns += pause_ns;
	if (r < 0)
		return r;
	/* the walkers must read all that they read in the copy of a paused process */
	input = (struct walk_input){
		.image = &reader->image,
		.mappings = &moment->mappings,
		.thread_addrs = moment->thread_addrs,
		.thread_count = moment->thread_count,
		.memory = &reader->names.memory,
	};
	names_set_mappings(&reader->names, &moment->mappings);
	r = survey_running(reader, &input, moment->mem_fd);
	names_set_mappings(&reader->names, mappings);
	/* the command line belongs to the caller */
	moment->usage.command = NULL;
	heap_moment_free(moment);
	*ret_bytes = page_list_bytes(&reader->pages);
	*ret_bytes += add_small_mappings(reader, mappings);
	page_list_sort(&reader->pages);
	return r;
}

int heap_survey_walk(struct heap_reader *reader, const struct walk_input *input,
		     int mem_fd, struct heap *ret)
{
	/*
	 * If a page is missing, the result is useless, but the walk continues with the
	 * current contents of the page so that it finds the other missing pages.
	 */
	return watch_walk(reader, input, mem_fd, ret) == 0 ? 0 : -ENODATA;
}
