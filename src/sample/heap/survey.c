/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/survey.h"

#include <errno.h>

#include "base/units.h"
#include "proc/cgroup/room.h"
#include "sample/heap/moment.h"
#include "sample/heap/reserve.h"
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
 * Number of bytes to copy beyond the end of a small arena, or beyond the last page that a
 * walk accessed in a large one, because the arena may grow before the copy.
 */
#define ARENA_GROWTH_BYTES (UINT64_C(1) << 20)

/*
 * Maximum number of heap walks while the process runs. At least two are needed to find
 * out whether a further walk still reads new pages.
 */
#define SURVEYS 3

/* Maximum number of copies that show whether the list of pages is complete. */
#define LIST_TRIES 2

/* A mapping with at most this many resident bytes is copied completely. */
#define SMALL_BYTES (UINT64_C(256) << 10)

bool heap_survey_is_promising(const struct heap_reader *reader, int pid,
			      const struct mapping_list *mappings)
{
	if (futile_pids_contain(&reader->futile, pid))
		return false;
	/*
	 * Determining the types of blocks requires the contents of the blocks. If an
	 * allocator stores its own data apart from the blocks, a survey is therefore
	 * worthwhile only if just the figures are needed.
	 */
	return (reader->use != HEAP_USE_ALL && walk_is_plain_glibc(mappings)) ||
	       (reader->use == HEAP_USE_FIGURES && walk_keeps_data_apart(mappings));
}

void heap_survey_give_up(struct heap_reader *reader, int pid)
{
	futile_pids_add(&reader->futile, pid);
}

static void add_blocks(struct page_list *list, const struct page_range *range,
		       uint64_t block_bytes)
{
	page_list_add(list, range->start_addr & ~(block_bytes - 1),
		      (range->end_addr + block_bytes - 1) & ~(block_bytes - 1));
}

/*
 * Walk the heap in the reader's sparse image. Append to *ret_accessed the pages that the
 * walkers accessed, and to *ret_missing at least one page of each block of
 * LAZY_BLOCK_BYTES that was absent when they accessed it; either may be NULL. Return 0,
 * -EFBIG if the walkers read too many pages, or another -errno.
 */
static int watch_walk(struct heap_reader *reader, const struct walk_input *input,
		      int mem_fd, uint64_t page_max, bool ends_if_dense,
		      struct page_list *ret_accessed, struct page_list *ret_missing,
		      struct heap *ret)
{
	struct lazy *lazy;
	int r;

	heap_release(ret);
	blocks_release(&reader->blocks);
	r = lazy_start(&reader->image, mem_fd, page_max, ends_if_dense, &lazy);
	if (r < 0)
		return r;
	walk_heap(input, ret, &reader->blocks);
	if (reader->use == HEAP_USE_DETAIL)
		heap_reader_touch_detail(reader, input, ret);
	return lazy_stop(lazy, ret_accessed, ret_missing, &reader->survey_cpu_ns)
		       ? 0
		       : -EFBIG;
}

/*
 * Add the accessed pages to reader->pages. In a large arena, do not extend the pages to
 * blocks of BLOCK_BYTES: the heads of chunks are everywhere, so the blocks would cover
 * most of the arena. Only the last page is extended, for growth.
 */
static void list_accessed(struct heap_reader *reader, const struct walk_input *input,
			  const struct page_list *accessed, bool has_large_arenas)
{
	for (size_t i = 0; i < accessed->count; i++) {
		const struct page_range *range = &accessed->items[i];
		const struct mapping *m =
			mapping_list_find(input->mappings, range->start_addr);
		bool is_last = m && (i + 1 == accessed->count ||
				     accessed->items[i + 1].start_addr >= m->end_addr);

		if (!has_large_arenas || !m || !walk_may_be_arena(m))
			add_blocks(&reader->pages, range, BLOCK_BYTES);
		else
			page_list_add(&reader->pages, range->start_addr,
				      range->end_addr +
					      (is_last ? ARENA_GROWTH_BYTES : 0));
	}
	page_list_sort(&reader->pages);
}

/*
 * Walk the heap of the running process, at most SURVEYS times, until a walk reads no new
 * pages and recognizes the heap. A walk may end early, because the process can change the
 * heap during the walk. If arenas are large, a walk reads much of the heap, so memstate
 * makes only one.
 */
static int survey_running(struct heap_reader *reader, const struct walk_input *input,
			  int mem_fd, uint64_t page_max, bool has_large_arenas,
			  bool *ret_is_stable)
{
	struct heap heap;
	int r = 0;

	*ret_is_stable = false;
	heap_init(&heap);
	for (int i = 0; i < (has_large_arenas ? 1 : SURVEYS) && r >= 0; i++) {
		struct page_list accessed = PAGE_LIST_INIT;
		uint64_t bytes = page_list_bytes(&reader->pages);

		image_drop_pages(&reader->image);
		r = watch_walk(reader, input, mem_fd, page_max, has_large_arenas,
			       &accessed, NULL, &heap);
		list_accessed(reader, input, &accessed, has_large_arenas);
		page_list_release(&accessed);
		*ret_is_stable = i > 0 && page_list_bytes(&reader->pages) == bytes;
		if (*ret_is_stable && heap_total_quality(&heap) != QUALITY_UNKNOWN)
			break;
	}
	if (has_large_arenas && heap_total_quality(&heap) == QUALITY_UNKNOWN)
		r = -ENODATA;
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

/* Take the moment of the running process, with copies of the listed pages only. */
static int take_running(struct heap_reader *reader, const struct usage *u,
			const struct mapping_list *mappings, struct heap_moment **ret,
			uint64_t *ret_pause_ns)
{
	int r = image_make_watchable(&reader->image);

	*ret_pause_ns = 0;
	if (r < 0)
		return r;
	reader->is_running = true;
	r = heap_moment_take(reader, u, mappings, ret, ret_pause_ns);
	reader->is_running = false;
	if (r == 0)
		names_set_mappings(&reader->names, &(*ret)->mappings);
	return r;
}

static void free_moment(struct heap_reader *reader, struct heap_moment *moment,
			const struct mapping_list *mappings)
{
	names_set_mappings(&reader->names, mappings);
	/* the caller owns the command line, so do not free it here */
	moment->usage.command = NULL;
	heap_moment_free(moment);
}

/*
 * Copy the listed pages while the process runs, and walk this copy. Set *ret_is_stable if
 * the walk needed no other pages. So a process that changes its arenas often is not
 * paused for a copy that would lack pages.
 */
static int try_list(struct heap_reader *reader, const struct usage *u,
		    const struct mapping_list *mappings, bool *ret_is_stable,
		    uint64_t *stopped_ns)
{
	struct heap_moment *moment;
	uint64_t pause_ns;
	int r = 0;

	*ret_is_stable = false;
	for (int i = 0; i < LIST_TRIES && r == 0 && !*ret_is_stable; i++) {
		struct walk_input input;
		struct heap heap;

		r = take_running(reader, u, mappings, &moment, &pause_ns);
		*stopped_ns += pause_ns;
		if (r < 0)
			break;
		heap_init(&heap);
		input = heap_moment_input(reader, moment);
		*ret_is_stable =
			heap_survey_walk(reader, &input, moment->mem_fd, &heap) == 0 &&
			heap_total_quality(&heap) != QUALITY_UNKNOWN;
		heap_release(&heap);
		blocks_release(&reader->blocks);
		free_moment(reader, moment, mappings);
	}
	/* a pause that copies all pages may be short enough */
	return r == 0 || r == -ENOMEM || (is_final(r) && r != -ETIMEDOUT) ? r : -ENODATA;
}

/*
 * Return how many bytes of memory a survey may use, besides the tables of a walk of this
 * much memory.
 */
static uint64_t find_free_bytes(const struct heap_reader *reader, uint64_t bytes)
{
	struct room room = proc_room_read(reader->fs);
	uint64_t free_bytes = room.bytes - room.bytes / HEAP_OTHERS_SHARE;

	if (!bytes_known(room.bytes))
		return UINT64_MAX;
	return free_bytes > bytes / HEAP_TABLES_SHARE
		       ? free_bytes - bytes / HEAP_TABLES_SHARE
		       : 0;
}

/*
 * Return how many pages a survey of this much memory may read, or 0 if there is too
 * little free memory.
 */
static uint64_t find_page_max(const struct heap_reader *reader, uint64_t bytes,
			      bool has_large_arenas)
{
	uint64_t free_bytes = find_free_bytes(reader, bytes);
	uint64_t share_bytes = bytes / SURVEY_PAGES_SHARE;

	/* a pause copies the pages to a buffer first, so they need memory twice */
	if (2 * share_bytes > free_bytes)
		return 0;
	/*
	 * without large arenas, whole blocks around the pages are copied, so limit the
	 * pages to a share of all pages
	 */
	if (!has_large_arenas)
		return share_bytes / IMAGE_PAGE_BYTES;
	return (free_bytes < bytes ? free_bytes : bytes) / IMAGE_PAGE_BYTES;
}

int heap_survey(struct heap_reader *reader, const struct usage *u,
		const struct mapping_list *mappings, struct survey *ret,
		uint64_t *stopped_ns)
{
	bool has_large_arenas = walk_has_large_arenas(mappings);
	uint64_t bytes = heap_moment_bytes(reader, mappings);
	uint64_t pause_ns, page_max, arena_bytes = 0, listed_bytes;
	struct heap_moment *moment;
	struct walk_input input;
	int r;

	if (!lazy_is_possible())
		return -ENODATA;
	/* so that it does not count as used memory */
	image_release(&reader->image);
	page_max = find_page_max(reader, bytes, has_large_arenas);
	if (page_max == 0)
		return -ENOMEM;
	reader->pages.count = 0;
	r = take_running(reader, u, mappings, &moment, &pause_ns);
	*stopped_ns += pause_ns;
	if (r < 0)
		return is_final(r) || r == -ENOMEM ? r : -ENODATA;
	/*
	 * make the walkers read everything that they would read in the copy of a
	 * paused process
	 */
	input = heap_moment_input(reader, moment);
	if (walk_has_small_arenas(mappings))
		arena_bytes = add_mappings(reader, &moment->mappings, walk_may_be_arena,
					   ARENA_GROWTH_BYTES);
	listed_bytes = page_list_bytes(&reader->pages);
	r = survey_running(reader, &input, moment->mem_fd, page_max, has_large_arenas,
			   &ret->is_stable);
	free_moment(reader, moment, mappings);
	image_drop_pages(&reader->image);
	/* none of these errors prevents a pause that copies all pages */
	if (r < 0)
		return -ENODATA;
	if (has_large_arenas &&
	    2 * page_list_bytes(&reader->pages) > find_free_bytes(reader, bytes))
		return -ENOMEM;
	if (has_large_arenas)
		r = try_list(reader, u, mappings, &ret->is_stable, stopped_ns);
	ret->bytes = page_list_bytes(&reader->pages) - listed_bytes + arena_bytes;
	ret->bytes += add_mappings(reader, mappings, is_small, 0);
	return r;
}

int heap_survey_walk(struct heap_reader *reader, const struct walk_input *input,
		     int mem_fd, struct heap *ret)
{
	struct page_list missing = PAGE_LIST_INIT;
	uint64_t page_max =
		reader->image.length_bytes / IMAGE_PAGE_BYTES / SURVEY_PAGES_SHARE;
	int r = watch_walk(reader, input, mem_fd, page_max, false, NULL, &missing, ret);

	/*
	 * If a page is missing from the copy, the result of the walk is useless. The walk
	 * nevertheless continues with the current contents of the page, to find all other
	 * missing pages.
	 */
	if (missing.count > 0)
		r = -ENODATA;
	for (size_t i = 0; i < missing.count; i++)
		add_blocks(&reader->pages, &missing.items[i], MISSING_BLOCK_BYTES);
	page_list_sort(&reader->pages);
	page_list_release(&missing);
	return r < 0 ? -ENODATA : 0;
}
