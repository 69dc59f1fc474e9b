/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/explain.h"

#include <errno.h>

#include "base/units.h"
#include "model/allocator_signs.h"
#include "walk/glibc/bin.h"

/*
 * Distance from the thread pointer within which addresses count as thread-local storage
 * (TLS). Static TLS is directly below the thread pointer, and libc's own data is above
 * it. If the stack is directly below the TLS, the boundary is unknown, and only
 * TLS_NEAR_STACK bytes count as TLS, which covers libc's own data.
 */
#define TLS_NEAR UINT64_C(4096)
#define TLS_NEAR_STACK UINT64_C(320)

static const struct mapping *mapping_at(const struct mapping_list *list, uint64_t addr)
{
	for (size_t i = 0; i < list->count; i++)
		if (addr >= list->items[i].start_addr && addr < list->items[i].end_addr)
			return &list->items[i];
	return NULL;
}

static enum lazyfree lazyfree_of(const struct mapping *m)
{
	uint64_t lazyfree = m->counters.bytes[SMAPS_LAZYFREE];

	if (lazyfree == 0 || !bytes_known(lazyfree))
		return LAZYFREE_NO;
	return lazyfree == m->counters.bytes[SMAPS_RSS] ? LAZYFREE_YES : LAZYFREE_MAYBE;
}

static void find_register(const struct explain_input *input, size_t word,
			  struct root_place *ret)
{
	ret->kind = ROOT_REGISTER;
	for (size_t i = 0; i < input->thread_count; i++) {
		if (word < input->threads[i].word_count) {
			ret->tid = input->threads[i].tid;
			return;
		}
		word -= input->threads[i].word_count;
	}
}

static bool is_near_thread(const struct root_thread *thread, const struct mapping *m,
			   uint64_t addr)
{
	bool is_on_stack = thread->stack_addr >= m->start_addr &&
			   thread->stack_addr < m->end_addr;

	return addr + (is_on_stack ? TLS_NEAR_STACK : TLS_NEAR) >= thread->tls_addr &&
	       addr < thread->tls_addr + TLS_NEAR;
}

/* Return true if addr is above the thread's stack pointer and in the stack's mapping. */
static bool is_above(const struct root_thread *thread, const struct mapping *m,
		     uint64_t addr)
{
	return thread->stack_addr >= m->start_addr && thread->stack_addr < m->end_addr &&
	       addr + STACK_RED_ZONE_BYTES >= thread->stack_addr;
}

static void find_place(const struct explain_input *input, uint64_t addr,
		       struct root_place *ret)
{
	const struct mapping *m = mapping_at(input->mappings, addr);
	uint64_t best = 0;

	ret->kind = ROOT_MEMORY;
	ret->mapping = m;
	if (!m)
		return;
	ret->offset = (int64_t)(addr - m->start_addr);
	for (size_t i = 0; i < input->thread_count; i++) {
		const struct root_thread *thread = &input->threads[i];

		if (is_near_thread(thread, m, addr)) {
			ret->kind = ROOT_TLS;
			ret->tid = thread->tid;
			ret->offset = (int64_t)(addr - thread->tls_addr);
			return;
		}
		if (!is_above(thread, m, addr) || thread->stack_addr < best)
			continue;
		best = thread->stack_addr;
		ret->kind = ROOT_STACK;
		ret->tid = thread->tid;
		ret->offset = (int64_t)(addr - thread->stack_addr);
	}
}

static const char *const bin_parts[GLIBC_BIN_COUNT_] = {
	[GLIBC_BIN_UNKNOWN] = "free, in a bin",
	[GLIBC_BIN_CACHE] = "free, in a thread's cache",
	[GLIBC_BIN_FAST] = "free, in a fastbin",
	[GLIBC_BIN_UNSORTED] = "free, in the unsorted bin",
	[GLIBC_BIN_SMALL] = "free, in a small bin",
	[GLIBC_BIN_LARGE] = "free, in a large bin",
};

static void set_glibc_part(struct explanation *e, const struct heap *heap,
			   const struct blocks *blocks)
{
	const struct extent *extent = &blocks->extents[e->block.extent];
	bool is_chain = extent->kind == EXTENT_CHAIN;

	if (e->block.state == BLOCK_LIVE)
		e->part = is_chain ? "live" : "live, in its own mapping";
	else if (!is_chain || extent->arena >= heap->arena_count)
		e->part = "free, the last one (top)";
	else
		e->part = bin_parts[glibc_bin_find(blocks, &heap->arenas[extent->arena],
						   &e->block, &e->list_chunk_bytes)];
}

static void set_part(struct explanation *e, const struct heap *heap,
		     const struct blocks *blocks)
{
	static const char *const parts[] = {
		[BLOCK_LIVE] = "live",
		[BLOCK_CACHED] = "free, in a thread's cache",
		[BLOCK_FREE] = "free",
		[BLOCK_OWN] = "malloc's own data",
	};

	e->part = parts[e->block.state];
	if (!allocator_is_malloc(heap->allocator) && e->block.state == BLOCK_OWN)
		e->part = "the runtime's own data";
	if (heap->allocator == ALLOCATOR_GLIBC && e->block.state != BLOCK_OWN)
		set_glibc_part(e, heap, blocks);
}

static bool has_arena(const struct explanation *e, const struct blocks *blocks)
{
	const struct extent *extent = &blocks->extents[e->block.extent];

	/*
	 * musl has no arenas, and a glibc chunk with its own mapping belongs to no arena
	 */
	if (extent->kind == EXTENT_SLOTS)
		return false;
	return extent->kind == EXTENT_CHAIN || e->block.state != BLOCK_LIVE ||
	       blocks->head_bytes == 0;
}

/*
 * Return true if addr is in the heap but outside all blocks: in an arena, or in the
 * header of a chunk or of a heap.
 */
static bool is_own_data(const struct blocks *blocks, uint64_t addr)
{
	const struct image_run *run = image_run_at(blocks->image, addr);
	uint64_t page;

	if (blocks_in_own_range(blocks, addr))
		return true;
	if (!run)
		return false;
	page = (run->offset_bytes + (addr - run->start_addr)) / IMAGE_PAGE_BYTES;
	return blocks->pages[page].heap_bytes == IMAGE_PAGE_BYTES;
}

/* Describe the address if it belongs to the given heap; otherwise return false. */
static bool explain_in_heap(const struct heap *heap, const struct blocks *blocks,
			    struct explanation *e)
{
	bool is_malloc = allocator_is_malloc(heap->allocator);

	if (heap->quality == QUALITY_UNKNOWN || !blocks->pages)
		return false;
	e->has_block = blocks_find(blocks, e->addr, &e->block);
	if (!e->has_block && !is_own_data(blocks, e->addr))
		return false;
	e->heap = heap;
	e->blocks = blocks;
	if (e->has_block)
		set_part(e, heap, blocks);
	else
		e->part = is_malloc ? "malloc's own data" : "not an allocated object";
	return true;
}

static int explain_block(const struct explain_input *input, struct explanation *e)
{
	const struct blocks *blocks = input->mark->blocks;
	const struct heap *heap = input->heap;
	bool is_found = input->is_heap_known && explain_in_heap(heap, blocks, e);
	int r;

	for (size_t i = 0; i < heap->other_count && !is_found; i++)
		is_found = explain_in_heap(&heap->others[i], &blocks->others[i], e);
	if (!e->has_block || e->heap != heap)
		return 0;
	if (has_arena(e, blocks) &&
	    blocks->extents[e->block.extent].arena < heap->arena_count)
		e->arena_addr = heap->arenas[blocks->extents[e->block.extent].arena].addr;
	if (e->block.state != BLOCK_LIVE || !allocator_is_malloc(heap->allocator))
		return 0;
	r = path_find(input->mark, e->block.addr, &e->path);
	if (r < 0)
		return r;
	e->is_reach_known = true;
	if (e->path.is_found && e->path.is_register)
		find_register(input, (size_t)e->path.steps[0].place_addr, &e->root);
	else if (e->path.is_found)
		find_place(input, e->path.steps[0].place_addr, &e->root);
	return 0;
}

int explain_address(const struct explain_input *input, uint64_t addr,
		    struct explanation *ret)
{
	*ret = (struct explanation){ .addr = addr };
	ret->mapping = mapping_at(input->mappings, addr);
	if (!ret->mapping)
		return -EFAULT;
	ret->lazyfree = lazyfree_of(ret->mapping);
	return explain_block(input, ret);
}

void explanation_release(struct explanation *e)
{
	path_release(&e->path);
}
