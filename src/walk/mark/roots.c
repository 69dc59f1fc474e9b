/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"

/*
 * Number of words after the thread pointer in which to search for the thread's stack
 * range. glibc's struct pthread contains the members stackblock, stackblock_size and
 * guardsize in sequence (nptl/descr.h). In every version, they are the only three
 * adjacent words with consistent values.
 */
#define PTHREAD_WORDS (2304 / 8 + 64)

bool roots_want_mapping(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;

	if (!(m->flags & MAPPING_READ))
		return false;
	if (m->flags & MAPPING_HUGETLB)
		return m->flags & MAPPING_WRITE;
	/*
	 * device mappings must not be read; they have no Rss, so this condition skips
	 * them too
	 */
	if (bytes[SMAPS_RSS] == 0)
		return false;
	if (m->flags & MAPPING_WRITE)
		return true;
	return !(m->flags & MAPPING_SHARED) && bytes[SMAPS_ANONYMOUS] > 0;
}

uint64_t roots_swapped_bytes(const struct mapping_list *mappings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].flags & MAPPING_READ)
			sum = bytes_add(sum,
					mappings->items[i].counters.bytes[SMAPS_SWAP]);
	return sum;
}

static bool is_stack_of(const struct root_thread *thread, const uint64_t words[3])
{
	uint64_t start = words[0], size = words[1], guard = words[2];

	return start && !((start | size | guard) & (IMAGE_PAGE_BYTES - 1)) &&
	       guard < size && thread->stack_addr - start < size &&
	       thread->tls_addr - start < size;
}

/*
 * Return the start of a thread's stack, without the guard pages, if libc allocated the
 * stack. Return 0 if the stack is not found.
 */
static uint64_t find_stack_start(struct image *image, const struct root_thread *thread)
{
	for (uint64_t i = 0; i < PTHREAD_WORDS; i++) {
		uint64_t words[3];
		const uint8_t *at =
			image_at(image, thread->tls_addr + i * 8, sizeof(words));

		if (!at)
			return 0;
		memcpy(words, at, sizeof(words));
		if (is_stack_of(thread, words))
			return words[0] + words[2];
	}
	return 0;
}

/*
 * Return the unused part of a thread's stack, which is not a root. The range is empty if
 * the position of the stack is unknown.
 */
static struct root_range roots_dead_stack(struct image *image,
					  const struct mapping_list *mappings,
					  const struct root_thread *thread)
{
	const struct mapping *m = mapping_list_find(mappings, thread->stack_addr);
	struct root_range dead = { 0, 0 };

	if (!m || thread->stack_addr % 8)
		return dead;
	if (strcmp(m->name, "[stack]") == 0)
		dead.start_addr = m->start_addr;
	else
		dead.start_addr = find_stack_start(image, thread);
	dead.end_addr = thread->stack_addr - STACK_RED_ZONE_BYTES;
	if (!dead.start_addr || dead.end_addr <= dead.start_addr ||
	    dead.end_addr > thread->stack_addr)
		return (struct root_range){ 0, 0 };
	return dead;
}

struct finder {
	const struct blocks *blocks;
	/* Ranges that are not roots, in ascending address order. */
	struct root_range *dead;
	size_t dead_count;
	/*
	 * Indices of the first unused stack range and the first heap extent that may end
	 * after the current address. The current address only increases.
	 */
	size_t next_dead, extent;
	struct root_list *list;
};

static void append(struct root_list *list, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = (struct root_range){ start, end };
	list->bytes += end - start;
}

static void add_alive(struct finder *f, uint64_t start, uint64_t end)
{
	while (f->next_dead < f->dead_count && f->dead[f->next_dead].end_addr <= start)
		f->next_dead++;
	for (size_t i = f->next_dead; i < f->dead_count && start < end; i++) {
		const struct root_range *dead = &f->dead[i];

		if (dead->start_addr >= end)
			break;
		append(f->list, start, dead->start_addr);
		if (dead->end_addr > start)
			start = dead->end_addr;
	}
	append(f->list, start, end);
}

/*
 * Add the parts of a page that are outside the heap's extents and thus contain other
 * data.
 */
static void add_shared_page(struct finder *f, uint64_t start, uint64_t end)
{
	const struct blocks *blocks = f->blocks;

	while (f->extent < blocks->extent_count &&
	       blocks->extents[f->extent].end_addr <= start)
		f->extent++;
	for (size_t i = f->extent; i < blocks->extent_count; i++) {
		const struct extent *e = &blocks->extents[i];

		if (e->start_addr >= end)
			break;
		add_alive(f, start, e->start_addr);
		start = e->end_addr;
	}
	add_alive(f, start, end);
}

/* Add the resident range [start, end), which is within one mapping. */
static void add_resident(struct finder *f, const struct image_run *run, uint64_t start,
			 uint64_t end)
{
	const struct page_use *page =
		&f->blocks->pages[(run->offset_bytes + (start - run->start_addr)) /
				  IMAGE_PAGE_BYTES];
	uint64_t from = start;

	for (uint64_t at = start; at < end; at += IMAGE_PAGE_BYTES, page++) {
		if (page->heap_bytes == 0)
			continue;
		add_alive(f, from, at);
		from = at + IMAGE_PAGE_BYTES;
		if (page->heap_bytes < IMAGE_PAGE_BYTES)
			add_shared_page(f, at, from);
	}
	add_alive(f, from, end);
}

static bool is_lazily_freed(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;

	return bytes_known(bytes[SMAPS_LAZYFREE]) && bytes[SMAPS_LAZYFREE] > 0 &&
	       bytes[SMAPS_LAZYFREE] == bytes[SMAPS_RSS];
}

static void add_mapping(struct finder *f, const struct mapping *m)
{
	struct image *image = f->blocks->image;
	uint64_t addr = image_next_resident(image, m->start_addr, m->end_addr);

	while (addr < m->end_addr) {
		const struct image_run *run = image_run_at(image, addr);
		uint64_t end = run->end_addr < m->end_addr ? run->end_addr : m->end_addr;

		add_resident(f, run, addr, end);
		addr = image_next_resident(image, end, m->end_addr);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct root_range *left = a, *right = b;

	return (left->start_addr > right->start_addr) -
	       (left->start_addr < right->start_addr);
}

void roots_find(const struct blocks *blocks, const struct mapping_list *mappings,
		const struct root_thread *threads, size_t thread_count,
		struct root_list *ret)
{
	struct finder f = { .blocks = blocks, .list = ret };

	*ret = (struct root_list)ROOT_LIST_INIT;
	f.dead = xcalloc(thread_count + blocks->own_range_count + 1, sizeof(*f.dead));
	for (size_t i = 0; i < blocks->own_range_count; i++)
		f.dead[f.dead_count++] =
			(struct root_range){ blocks->own_ranges[i].start_addr,
					     blocks->own_ranges[i].end_addr };
	for (size_t i = 0; i < thread_count; i++) {
		f.dead[f.dead_count] =
			roots_dead_stack(blocks->image, mappings, &threads[i]);
		f.dead_count += f.dead[f.dead_count].start_addr != 0;
	}
	qsort(f.dead, f.dead_count, sizeof(*f.dead), compare_ranges);
	for (size_t i = 0; i < mappings->count; i++)
		if (roots_want_mapping(&mappings->items[i]) &&
		    !is_lazily_freed(&mappings->items[i]))
			add_mapping(&f, &mappings->items[i]);
	free(f.dead);
}

void root_list_release(struct root_list *list)
{
	free(list->items);
	*list = (struct root_list)ROOT_LIST_INIT;
}
