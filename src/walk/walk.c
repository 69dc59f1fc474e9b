/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
#include "walk/erlang/walk.h"
#include "walk/glibc/walk.h"
#include "walk/golang/walk.h"
#include "walk/hotspot/walk.h"
#include "walk/jemalloc/walk.h"
#include "walk/mallocng/walk.h"
#include "walk/pymalloc/walk.h"
#include "walk/tcmalloc/walk.h"

/* Why the heap of an allocator was not read, and how the allocator was identified. */
static const struct {
	const char *problem, *evidence;
} unread[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_UNKNOWN] = { "the program contains no malloc of glibc or musl 1.2, no "
				"jemalloc, and no tcmalloc",
				NULL },
	[ALLOCATOR_MUSL] = { "it is musl's malloc, but not mallocng, as in musl 1.2.1 to "
			     "1.2.5",
			     "musl's libc is mapped" },
	[ALLOCATOR_JEMALLOC] = { "it is jemalloc, but not one of the versions 5.0 to 5.3",
				 "its library is mapped" },
	[ALLOCATOR_TCMALLOC] = { "it is tcmalloc, but not that of gperftools 2.6 to 2.18",
				 "its library is mapped, or its messages are in the "
				 "program's files" },
	[ALLOCATOR_MIMALLOC] = { "it is mimalloc, whose heap memstate cannot read",
				 "its library is mapped, or its messages are in the "
				 "program's files" },
	[ALLOCATOR_GO] = { "it is a Go program, but not of a version from 1.18 to 1.26",
			   "a mapping has the address or the name of Go's heap" },
	[ALLOCATOR_PARTITION] = { "it is PartitionAlloc (Chromium), whose heap memstate "
				  "cannot read",
				  "its two address pools of 16 GiB each are mapped" },
};

static bool is_anonymous(const struct mapping *m)
{
	return walk_wants_mapping(m) && m->inode == 0 && strcmp(m->name, "[stack]") != 0;
}

static struct allocator_signs find_signs(const struct mapping_list *mappings)
{
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;

	for (size_t i = 0; i < mappings->count; i++)
		allocator_signs_add(&signs, &mappings->items[i]);
	return signs;
}

/*
 * Return the allocator that the mappings indicate. Return
 * ALLOCATOR_UNKNOWN for glibc's malloc.
 */
static enum allocator find_named(const struct mapping_list *mappings)
{
	const struct allocator_signs signs = find_signs(mappings);
	enum allocator named = allocator_signs_find(&signs);

	return named == ALLOCATOR_GLIBC ? ALLOCATOR_UNKNOWN : named;
}

/* Return true if the heaps contain more than half of the memory that any heap may use. */
static bool have_most(const struct walk_input *input, const struct heap *heap)
{
	uint64_t sum = 0, owned = 0;

	for (size_t i = 0; i < input->mappings->count; i++) {
		const struct mapping *m = &input->mappings->items[i];

		if (is_anonymous(m))
			sum += image_resident_bytes(input->image, m->start_addr,
						    m->end_addr);
	}
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		owned += heap_total_bytes(heap, (enum owner)o);
	return owned > sum / 2;
}

static bool has_heap_of(const struct heap *heap, enum allocator allocator)
{
	for (size_t i = 0; i < heap_count(heap); i++)
		if (heap_at(heap, i)->allocator == allocator)
			return true;
	return false;
}

/*
 * One row for each malloc, then one for each language runtime: its walker, and by which
 * structures the walker identifies the heap.
 */
static const struct {
	void (*walk)(const struct walk_input *input, struct heap *ret,
		     struct blocks *ret_blocks);
	const char *evidence;
} walkers[] = {
	{ walk_glibc,
	  "main_arena was found: its bins and its list of arenas lead back to it" },
	{ walk_jemalloc,
	  "the radix tree of its extents was found: entries lead to extents "
	  "with matching addresses" },
	{ walk_mallocng,
	  "its context was found: the areas of its groups repeat the context's secret" },
	{ walk_tcmalloc, "its page heap was found: as many lists of spans as there are "
			 "lengths, and a table of size classes" },
	{ walk_golang,
	  "the list of all spans in its mheap was found, and the spans are consistent" },
	{ walk_hotspot,
	  "libjvm.so describes the structures of its heap (gHotSpotVMStructs)" },
	{ walk_pymalloc,
	  "the heads of its pools agree with its list of used pools and its "
	  "table of arenas" },
	{ walk_erlang, "the program is beam.smp, Erlang's virtual machine" },
};

#define WALKER_COUNT (sizeof(walkers) / sizeof(walkers[0]))

struct found {
	struct heap heap;
	struct blocks blocks;
};

/* Mark the pages of a runtime's heap as claimed. */
static void claim(const struct found *found, uint64_t page_count, uint8_t claimed[])
{
	if (!found->blocks.pages || allocator_is_malloc(found->heap.allocator))
		return;
	for (uint64_t i = 0; i < page_count; i++)
		if (found->blocks.pages[i].heap_bytes > 0)
			claimed[i] = 1;
}

/*
 * Run the walkers of the language runtimes before those of malloc. The former find
 * memory through structures that refer to it. glibc's walker has to recognize large
 * blocks by their content, and must not search a runtime's memory for them.
 */
static void run_walkers(const struct walk_input *input, struct found found[])
{
	uint64_t page_count = input->image->length_bytes / IMAGE_PAGE_BYTES;
	_cleanup_free_ uint8_t *claimed = xcalloc(page_count + 1, 1);
	struct walk_input with_claims = *input;

	with_claims.claimed = claimed;
	for (size_t i = WALKER_COUNT; i-- > 0;) {
		walkers[i].walk(&with_claims, &found[i].heap, &found[i].blocks);
		if (found[i].heap.allocator != ALLOCATOR_UNKNOWN)
			found[i].heap.evidence = walkers[i].evidence;
		claim(&found[i], page_count, claimed);
	}
}

/* Return true if programs use this malloc instead of libc's. */
static bool is_replacement(enum allocator allocator)
{
	return allocator == ALLOCATOR_JEMALLOC || allocator == ALLOCATOR_TCMALLOC;
}

static uint64_t owned_bytes(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

/*
 * Return true if `other` is to be the first heap of the process instead of `first`: a
 * malloc's heap comes before a runtime's, and the larger one before the smaller one. A
 * malloc that replaces libc's is the one in use even if its heap cannot be read.
 */
static bool comes_before(const struct heap *other, const struct heap *first)
{
	bool is_malloc = allocator_is_malloc(other->allocator);

	if (other->allocator == ALLOCATOR_UNKNOWN)
		return false;
	if (first->allocator == ALLOCATOR_UNKNOWN)
		return true;
	if (is_malloc != allocator_is_malloc(first->allocator))
		return is_malloc;
	if (other->quality == QUALITY_UNKNOWN)
		return is_replacement(other->allocator);
	return owned_bytes(other) >= owned_bytes(first);
}

static size_t find_first(const struct found found[])
{
	size_t first = 0;

	for (size_t i = 1; i < WALKER_COUNT; i++)
		if (comes_before(&found[i].heap, &found[first].heap))
			first = i;
	return first;
}

/* Discard the results of a walk, but keep the allocator and the evidence for it. */
static void discard(struct found *found, const char *problem)
{
	enum allocator allocator = found->heap.allocator;
	const char *evidence = found->heap.evidence;

	heap_release(&found->heap);
	blocks_release(&found->blocks);
	found->heap.allocator = allocator;
	found->heap.evidence = evidence;
	found->heap.problem = problem;
}

/* Return true if two walkers claim the same memory. */
static bool overlap(const struct blocks *a, const struct blocks *b)
{
	uint64_t count = a->pages && b->pages ? a->image->length_bytes / IMAGE_PAGE_BYTES
					      : 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t a_bytes = a->pages[i].heap_bytes;
		uint32_t b_bytes = b->pages[i].heap_bytes;

		if (a_bytes > 0 && b_bytes > 0 && a_bytes + b_bytes > IMAGE_PAGE_BYTES)
			return true;
	}
	return false;
}

static void discard_overlaps(struct found found[])
{
	static const char problem[] = "two heaps seem to use the same memory";
	bool overlaps[WALKER_COUNT] = { false };

	for (size_t i = 0; i < WALKER_COUNT; i++)
		for (size_t k = i + 1; k < WALKER_COUNT; k++)
			if (overlap(&found[i].blocks, &found[k].blocks))
				overlaps[i] = overlaps[k] = true;
	for (size_t i = 0; i < WALKER_COUNT; i++)
		if (overlaps[i])
			discard(&found[i], problem);
}

/*
 * Return true if the heap is to be listed in addition to the first heap. An empty heap
 * belongs to a libc whose malloc the program does not use.
 */
static bool is_worth_listing(const struct heap *heap)
{
	if (heap->allocator == ALLOCATOR_UNKNOWN)
		return false;
	return heap->quality == QUALITY_UNKNOWN ? !allocator_is_malloc(heap->allocator)
						: owned_bytes(heap) > 0;
}

static void add_others(struct found found[], size_t first, struct heap *ret,
		       struct blocks *ret_blocks)
{
	ret_blocks->others = xcalloc(WALKER_COUNT, sizeof(*ret_blocks->others));
	for (size_t i = 0; i < WALKER_COUNT; i++) {
		if (i == first)
			continue;
		if (!is_worth_listing(&found[i].heap)) {
			heap_release(&found[i].heap);
			blocks_release(&found[i].blocks);
			continue;
		}
		*heap_add_other(ret) = found[i].heap;
		ret_blocks->others[ret_blocks->other_count++] = found[i].blocks;
	}
}

/* Discard the heap, and report that the heap of an allocator could not be read. */
static void set_unread(struct heap *heap, enum allocator allocator)
{
	heap_release(heap);
	heap->allocator = allocator;
	heap->problem = unread[allocator].problem;
	heap->evidence = unread[allocator].evidence;
}

void walk_heap(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks)
{
	enum allocator named = find_named(input->mappings);
	struct found found[WALKER_COUNT];
	size_t first;

	run_walkers(input, found);
	discard_overlaps(found);
	first = find_first(found);
	*ret = found[first].heap;
	*ret_blocks = found[first].blocks;
	add_others(found, first, ret, ret_blocks);
	/* if the program contains jemalloc or tcmalloc, musl's malloc is not used */
	if (named == ALLOCATOR_MUSL && is_replacement(ret->allocator))
		return;
	if (named != ALLOCATOR_UNKNOWN && !has_heap_of(ret, named) &&
	    !have_most(input, ret)) {
		blocks_release(ret_blocks);
		set_unread(ret, named);
	}
}

bool walk_find_unread(const struct mapping_list *mappings, const struct heap *heap,
		      struct heap *ret)
{
	enum allocator named = find_named(mappings);

	/* the malloc of a libc may be unused, and a heap of Go may be empty */
	if ((!is_replacement(named) && !allocator_is_unreadable(named)) ||
	    has_heap_of(heap, named))
		return false;
	set_unread(ret, named);
	return true;
}

/*
 * Return true if the mapped files show that the process has no heap that can be read.
 * *named is set to the allocator, or to ALLOCATOR_UNKNOWN.
 */
static bool is_code_hopeless(const struct mapping_list *mappings, int process_fd,
			     struct allocator_codes *codes, enum allocator *named)
{
	const struct allocator_signs signs = find_signs(mappings);
	bool has_glibc = signs.libc == ALLOCATOR_GLIBC;
	struct allocator_code code;

	if (process_fd < 0 || signs.other != ALLOCATOR_UNKNOWN)
		return false;
	code = allocator_code_find(codes, process_fd, mappings,
				   has_glibc ? CODE_PROGRAM : CODE_ALL_FILES);
	if (!code.is_complete || code.is_found[ALLOCATOR_GLIBC] ||
	    code.is_found[ALLOCATOR_JEMALLOC] || code.is_found[ALLOCATOR_MUSL] ||
	    code.has_gperftools || code.is_found[ALLOCATOR_GO])
		return false;
	*named = code.is_found[ALLOCATOR_MIMALLOC]   ? ALLOCATOR_MIMALLOC
		 : code.is_found[ALLOCATOR_TCMALLOC] ? ALLOCATOR_TCMALLOC
		 : signs.libc == ALLOCATOR_MUSL	     ? ALLOCATOR_MUSL
						     : ALLOCATOR_UNKNOWN;
	/* the program's own malloc may be a wrapper around glibc's */
	return !has_glibc || *named != ALLOCATOR_UNKNOWN;
}

bool walk_is_hopeless(const struct mapping_list *mappings, int process_fd,
		      struct allocator_codes *codes, struct heap *ret)
{
	enum allocator named = find_named(mappings);

	if (!allocator_is_unreadable(named) &&
	    !is_code_hopeless(mappings, process_fd, codes, &named))
		return false;
	set_unread(ret, named);
	return true;
}

bool walk_reads_few_pages(const struct mapping_list *mappings)
{
	static const char java[] = "/libjvm.so";
	enum allocator named = find_named(mappings);

	if (named == ALLOCATOR_JEMALLOC || named == ALLOCATOR_TCMALLOC ||
	    named == ALLOCATOR_GO)
		return true;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (m->flags & MAPPING_EXEC && m->name_length >= sizeof(java) - 1 &&
		    strcmp(m->name + m->name_length - (sizeof(java) - 1), java) == 0)
			return true;
	}
	return false;
}
