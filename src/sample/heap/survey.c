/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/survey.h"

#include <errno.h>

#include "base/units.h"
#include "sample/heap/moment.h"
#include "tracee/memory/lazy.h"

/*
 * Size of the aligned blocks in which pages are copied: with each page that a walk reads,
 * memstate also copies the pages around it. An allocator's data grows at its end, so the
 * walk after the pause may read more pages.
 */
#define BLOCK_BYTES LAZY_BLOCK_BYTES

/*
 * Size of the aligned blocks around pages that were missing in a copy. It is larger than
 * BLOCK_BYTES, because the allocator is using new memory, and will use more of it before
 * the next copy.
 */
#define MISSING_BLOCK_BYTES (UINT64_C(1) << 20)

/*
 * Number of bytes after an arena that are copied too, because the arena may grow
 * before the copy.
 */
#define ARENA_GROWTH_BYTES (UINT64_C(1) << 20)

/*
 * Maximum number of heap walks while the process runs. At least two are needed to find
 * out whether a further walk still reads new pages.
 */
#define SURVEYS 3

/* A mapping with at most this many resident bytes is copied completely. */
#define SMALL_BYTES (UINT64_C(256) << 10)

bool heap_survey_is_promising(const struct heap_reader *reader, int pid,
			      const struct mapping_list *mappings)
{
	const struct futile_pids *futile = &reader->futile;

	for (size_t i = 0; i < FUTILE_PIDS; i++)
		if (futile->items[i] == pid)
			return false;
	/*
	 * Determining the types of blocks requires the contents of the blocks. If an
	 * allocator stores its own data apart from the blocks, a survey is therefore
	 * worthwhile only if just the figures are needed.
	 */
	return (reader->use != HEAP_USE_ALL && walk_has_small_arenas(mappings)) ||
	       (reader->use == HEAP_USE_FIGURES && walk_keeps_data_apart(mappings));
}

void heap_survey_give_up(struct heap_reader *reader, int pid)
{
	struct futile_pids *futile = &reader->futile;

	futile->items[futile->count++ % FUTILE_PIDS] = pid;
}

static uint64_t page_max(const struct heap_reader *reader)
{
	return reader->image.length_bytes / IMAGE_PAGE_BYTES / SURVEY_PAGES_SHARE;
}

/*
 * Walk the heap, and add the pages that were read but not copied to reader->pages, in
 * blocks of block_bytes. Return the number of ranges that were added, -EFBIG if there
 * are too many pages, or another -errno.
 */
static int watch_walk(struct heap_reader *reader, const struct walk_input *input,
		      int mem_fd, uint64_t block_bytes, struct heap *ret)
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
	if (reader->use == HEAP_USE_DETAIL)
		heap_reader_touch_detail(reader, input, ret);
	r = lazy_stop(lazy, &pages, &reader->survey_cpu_ns) ? (int)pages.count : -EFBIG;
	for (size_t i = 0; i < pages.count; i++)
		page_list_add(&reader->pages,
			      pages.items[i].start_addr & ~(block_bytes - 1),
			      (pages.items[i].end_addr + IMAGE_PAGE_BYTES + block_bytes -
			       1) & ~(block_bytes - 1));
	page_list_release(&pages);
	page_list_sort(&reader->pages);
	return r;
}

/*
 * Walk the heap of the running process, at most SURVEYS times, until a walk reads no new
 * pages and recognizes the heap. A walk may end early, because the process can change the
 * heap during the walk.
 */
static int survey_running(struct heap_reader *reader, const struct walk_input *input,
			  int mem_fd, bool *ret_is_stable)
{
	struct heap heap;
	int r = 0;

	*ret_is_stable = false;
	heap_init(&heap);
	for (int i = 0; i < SURVEYS && r >= 0; i++) {
		uint64_t bytes = page_list_bytes(&reader->pages);

		image_drop_pages(&reader->image);
		r = watch_walk(reader, input, mem_fd, BLOCK_BYTES, &heap);
		*ret_is_stable = i > 0 && page_list_bytes(&reader->pages) == bytes;
		if (*ret_is_stable && heap_total_quality(&heap) != QUALITY_UNKNOWN)
			break;
	}
	heap_release(&heap);
	blocks_release(&reader->blocks);
	return r < 0 ? r : 0;
}

static bool is_small(const struct mapping *m)
{
	return m->counters.bytes[SMAPS_RSS] <= SMALL_BYTES;
}

/*
 * Add the mappings for which `fits` returns true to reader->pages, each extended by
 * growth_bytes at its end. Return the sum of their resident bytes.
 */
static uint64_t add_mappings(struct heap_reader *reader,
			     const struct mapping_list *mappings,
			     bool (*fits)(const struct mapping *m), uint64_t growth_bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!heap_moment_wants(reader, m) || !fits(m))
			continue;
		page_list_add(&reader->pages, m->start_addr, m->end_addr + growth_bytes);
		sum = bytes_add(sum, m->counters.bytes[SMAPS_RSS]);
	}
	page_list_sort(&reader->pages);
	return sum;
}

/*
 * Return true if the error means that the process cannot be paused, so a complete copy
 * would fail as well.
 */
static bool is_final(int error)
{
	return error == -EBUSY || error == -EPERM || error == -ESRCH ||
	       error == -ETIMEDOUT || error == -ETIME;
}

int heap_survey(struct heap_reader *reader, const struct usage *u,
		const struct mapping_list *mappings, struct survey *ret,
		uint64_t *stopped_ns)
{
	struct heap_moment *moment;
	struct walk_input input;
	uint64_t pause_ns, arena_bytes = 0, listed_bytes;
	int r;

	image_make_sparse(&reader->image);
	reader->pages.count = 0;
	reader->is_running = true;
	r = heap_moment_take(reader, u, mappings, &moment, &pause_ns);
	reader->is_running = false;
	*stopped_ns += pause_ns;
	if (r < 0)
		return is_final(r) ? r : -ENODATA;
	/*
	 * make the walkers read everything that they would read in the copy of a
	 * paused process
	 */
	input = heap_moment_input(reader, moment);
	if (walk_has_small_arenas(&moment->mappings))
		arena_bytes = add_mappings(reader, &moment->mappings, walk_may_be_arena,
					   ARENA_GROWTH_BYTES);
	listed_bytes = page_list_bytes(&reader->pages);
	names_set_mappings(&reader->names, &moment->mappings);
	r = survey_running(reader, &input, moment->mem_fd, &ret->is_stable);
	names_set_mappings(&reader->names, mappings);
	/* the caller owns the command line, so do not free it here */
	moment->usage.command = NULL;
	heap_moment_free(moment);
	ret->bytes = page_list_bytes(&reader->pages) - listed_bytes + arena_bytes;
	ret->bytes += add_mappings(reader, mappings, is_small, 0);
	return r < 0 ? -ENODATA : 0;
}

int heap_survey_walk(struct heap_reader *reader, const struct walk_input *input,
		     int mem_fd, struct heap *ret)
{
	/*
	 * If a page is missing from the copy, the result of the walk is useless. The walk
	 * nevertheless continues with the current contents of the page, to find all other
	 * missing pages.
	 */
	return watch_walk(reader, input, mem_fd, MISSING_BLOCK_BYTES, ret) == 0
		       ? 0
		       : -ENODATA;
}
