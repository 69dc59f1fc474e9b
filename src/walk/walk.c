/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
#include "model/known_names.h"
#include "walk/erlang/walk.h"
#include "walk/glibc/walk.h"
#include "walk/golang/walk.h"
#include "walk/hotspot/walk.h"
#include "walk/jemalloc/walk.h"
#include "walk/mallocng/walk.h"
#include "walk/mimalloc/walk.h"
#include "walk/oldmalloc/walk.h"
#include "walk/overlaps.h"
#include "walk/partition/walk.h"
#include "walk/pymalloc/walk.h"
#include "walk/ruby/walk.h"
#include "walk/tcmalloc/walk.h"
#include "walk/v8/walk.h"
#include "walk/zend/walk.h"

/* Alignment of the heaps of glibc's arenas, except the main arena. */
#define ARENA_ALIGN (UINT64_C(64) << 20)

/*
 * The arenas count as small if they contain at most 1/ARENAS_SHARE of the memory to copy.
 */
#define ARENAS_SHARE 5

/*
 * Explanations for heaps that the walkers did not read: the problem, and how memstate
 * identified the allocator.
 */
static const struct {
	const char *problem, *evidence;
} unread[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_UNKNOWN] = { "the program contains no malloc of glibc or musl 1.2, no "
				"jemalloc, and no tcmalloc",
				NULL },
	[ALLOCATOR_MUSL] = { "it is musl's malloc, but neither mallocng, as in musl 1.2.1 "
			     "to 1.2.5, nor the malloc of older versions",
			     "musl's libc is mapped" },
	[ALLOCATOR_JEMALLOC] = { "it is jemalloc, but not one of the versions 5.0 to 5.3",
				 "its library is mapped" },
	[ALLOCATOR_TCMALLOC] = { "it is tcmalloc, but not that of gperftools 2.6 to 2.18",
				 "its library is mapped, or its messages are in the "
				 "program's files" },
	[ALLOCATOR_MIMALLOC] = { "it is mimalloc, but not one of the versions 2.0 to 2.4 or "
				 "3.1 to 3.4",
				 "its library is mapped, or its messages are in the "
				 "program's files" },
	[ALLOCATOR_GO] = { "it is a Go program, but not of a version from 1.18 to 1.26",
			   "a mapping has the address or the name of Go's heap" },
	[ALLOCATOR_PARTITION] = { "it is PartitionAlloc, but not that of Chromium 150 or 156",
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
 * Return the allocator that the mappings indicate, or ALLOCATOR_UNKNOWN for glibc's
 * malloc.
 */
static enum allocator find_named(const struct mapping_list *mappings)
{
	const struct allocator_signs signs = find_signs(mappings);
	enum allocator named = allocator_signs_find(&signs);

	return named == ALLOCATOR_GLIBC ? ALLOCATOR_UNKNOWN : named;
}

/*
 * Return true if the heaps contain more than half of the resident anonymous memory, not
 * counting the main stack.
 */
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
 * The walkers of mallocs, followed by those of language runtimes. `evidence` describes
 * the structures by which a walker identifies the heap. The walkers run from the last to
 * the first. Those of Java and Go must run before PHP's, and so follow it in this table:
 * PHP's walker examines one page of every 2 MiB, and must skip their heaps.
 */
static const struct {
	void (*walk)(const struct walk_input *input, struct heap *ret,
		     struct blocks *ret_blocks);
	/*
	 * true if the walker distinguishes structures that are swapped out from those
	 * that failed a check
	 */
	bool knows_swapped;
	const char *evidence;
} walkers[] = {
	{ walk_glibc, true,
	  "main_arena was found: its bins and its list of arenas lead back to it" },
	{ walk_jemalloc, true,
	  "the radix tree of its extents was found: entries lead to extents "
	  "with matching addresses" },
	{ walk_mallocng, true,
	  "its context was found: the areas of its groups repeat the context's secret" },
	{ walk_oldmalloc, false,
	  "the heads of its 64 lists of free chunks were found: the chunks lead back "
	  "to them" },
	{ walk_tcmalloc, true,
	  "its page heap was found: as many lists of spans as there are "
	  "lengths, and a table of size classes" },
	{ walk_mimalloc, false,
	  "its segments or its page map were found: they contain their own "
	  "addresses, and its static data refers to them" },
	{ walk_partition, false,
	  "the roots of its partitions were found: they contain the complements of "
	  "their addresses" },
	{ walk_pymalloc, true,
	  "the heads of its pools agree with its list of used pools and its "
	  "table of arenas" },
	{ walk_ruby, false,
	  "the slot pages were found: the description of each page leads back to "
	  "its slots" },
	{ walk_v8, false,
	  "the lists of its spaces were found: each chunk in them leads back to "
	  "its space and its heap" },
	{ walk_zend, true,
	  "the chunks of its heap form a ring, and their maps of pages "
	  "agree with their bitmaps" },
	{ walk_erlang, false, "the program is beam.smp, Erlang's virtual machine" },
	{ walk_golang, true,
	  "the list of all spans in its mheap was found, and the spans are consistent" },
	{ walk_hotspot, false,
	  "libjvm.so describes the structures of its heap (gHotSpotVMStructs)" },
};

#define WALKER_COUNT (sizeof(walkers) / sizeof(walkers[0]))

/*
 * Mark the pages of a heap as claimed, so that the walkers of malloc skip them. Only the
 * heaps of language runtimes and of PartitionAlloc are claimed, because they contain no
 * malloc chunks.
 */
static void claim(const struct walk_found *found, uint64_t page_count, uint8_t claimed[])
{
	if (!found->blocks.pages || (allocator_is_malloc(found->heap.allocator) &&
				     found->heap.allocator != ALLOCATOR_PARTITION))
		return;
	for (uint64_t i = 0; i < page_count; i++)
		if (found->blocks.pages[i].heap_bytes > 0)
			claimed[i] = 1;
}

/*
 * If structures of a heap failed a check and some memory is swapped out, set
 * heap->problem to this possible reason. If the problem of an arena is known, leave
 * heap->problem unchanged, because the arena's problem is more specific.
 */
static void explain_swapped(const struct walk_input *input, struct heap *heap)
{
	if (heap->quality != QUALITY_ESTIMATE || input->is_running ||
	    heap->arena_count == 0 || heap->arenas[0].problem || !walk_has_swapped(input))
		return;
	heap->problem = "structures failed a check, perhaps because memory is swapped "
			"out";
}

/*
 * Run the walkers of the language runtimes before those of malloc. The runtimes' walkers
 * find memory through structures that refer to it. glibc's walker has to recognize large
 * blocks by their contents, and must not search a runtime's memory for them.
 */
static void run_walkers(const struct walk_input *input, struct walk_found found[])
{
	uint64_t page_count = input->image->length_bytes / IMAGE_PAGE_BYTES;
	_cleanup_free_ uint8_t *claimed = xcalloc(page_count + 1, 1);
	struct walk_input with_claims = *input;

	with_claims.claimed = claimed;
	for (size_t i = WALKER_COUNT; i-- > 0;) {
		walkers[i].walk(&with_claims, &found[i].heap, &found[i].blocks);
		if (found[i].heap.allocator != ALLOCATOR_UNKNOWN)
			found[i].heap.evidence = walkers[i].evidence;
		if (!walkers[i].knows_swapped)
			explain_swapped(input, &found[i].heap);
		claim(&found[i], page_count, claimed);
	}
}

/* Return true if programs use this malloc instead of libc's. */
static bool is_replacement(enum allocator allocator)
{
	return allocator == ALLOCATOR_JEMALLOC || allocator == ALLOCATOR_TCMALLOC ||
	       allocator == ALLOCATOR_MIMALLOC || allocator == ALLOCATOR_PARTITION;
}

static uint64_t owned_bytes(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

/*
 * Return true if `other` instead of `first` must be listed as the first heap of the
 * process. A malloc's heap precedes a runtime's, and a larger heap precedes a smaller
 * one. A malloc that replaces libc's comes first even if its heap cannot be read.
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

static size_t find_first(const struct walk_found found[])
{
	size_t first = 0;

	for (size_t i = 1; i < WALKER_COUNT; i++)
		if (comes_before(&found[i].heap, &found[first].heap))
			first = i;
	return first;
}

/*
 * Return true if the heap should be listed in addition to the first heap. An empty heap
 * belongs to a libc whose malloc the program does not use.
 */
static bool is_worth_listing(const struct heap *heap)
{
	if (heap->allocator == ALLOCATOR_UNKNOWN)
		return false;
	return heap->quality == QUALITY_UNKNOWN ? !allocator_is_malloc(heap->allocator)
						: owned_bytes(heap) > 0;
}

static void add_others(struct walk_found found[], size_t first, struct heap *ret,
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

/*
 * Discard the results in *heap, and record that the heap of the given allocator could not
 * be read.
 */
static void set_unread(struct heap *heap, enum allocator allocator)
{
	heap_release(heap);
	heap->allocator = allocator;
	heap->problem = unread[allocator].problem;
	heap->evidence = unread[allocator].evidence;
}

/*
 * If no heap was found and some memory is swapped out, set heap->problem to this possible
 * reason. It replaces any other reason, such as an unsupported version, which is then
 * uncertain.
 */
static void explain_unread(const struct walk_input *input, struct heap *heap)
{
	if (heap->quality == QUALITY_UNKNOWN && !input->is_running &&
	    walk_has_swapped(input) &&
	    !(heap->problem && strstr(heap->problem, "swapped out")))
		heap->problem = "its structures were not found, perhaps because memory "
				"is swapped out";
}

void walk_heap(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks)
{
	enum allocator named = find_named(input->mappings);
	struct walk_found found[WALKER_COUNT];
	size_t first;

	run_walkers(input, found);
	walk_discard_overlaps(found, WALKER_COUNT);
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
	explain_unread(input, ret);
}

bool walk_find_unread(const struct mapping_list *mappings, const struct heap *heap,
		      struct heap *ret)
{
	enum allocator named = find_named(mappings);

	/*
	 * report only a malloc that replaces libc's: the malloc of a libc may be unused,
	 * and the heap of a runtime may be empty
	 */
	if (!is_replacement(named) || has_heap_of(heap, named))
		return false;
	set_unread(ret, named);
	return true;
}

/*
 * Return true if the mapped files show that the process has no heap that memstate can
 * read. Set *named to the allocator, or to ALLOCATOR_UNKNOWN.
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
	    code.is_found[ALLOCATOR_MIMALLOC] || code.has_gperftools ||
	    code.is_found[ALLOCATOR_GO])
		return false;
	*named = code.is_found[ALLOCATOR_TCMALLOC] ? ALLOCATOR_TCMALLOC
		 : signs.libc == ALLOCATOR_MUSL	   ? ALLOCATOR_MUSL
						   : ALLOCATOR_UNKNOWN;
	/* the program's own malloc may be a wrapper around glibc's */
	return !has_glibc || *named != ALLOCATOR_UNKNOWN;
}

bool walk_is_hopeless(const struct mapping_list *mappings, int process_fd,
		      struct allocator_codes *codes, struct heap *ret)
{
	enum allocator named = find_named(mappings);

	if (named == ALLOCATOR_PARTITION ||
	    !is_code_hopeless(mappings, process_fd, codes, &named))
		return false;
	set_unread(ret, named);
	return true;
}

static bool has_java(const struct mapping_list *mappings)
{
	static const char java[] = "/libjvm.so";

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (m->flags & MAPPING_EXEC && m->name_length >= sizeof(java) - 1 &&
		    strcmp(m->name + m->name_length - (sizeof(java) - 1), java) == 0)
			return true;
	}
	return false;
}

bool walk_keeps_data_apart(const struct mapping_list *mappings)
{
	enum allocator named = find_named(mappings);

	return named == ALLOCATOR_JEMALLOC || named == ALLOCATOR_TCMALLOC ||
	       named == ALLOCATOR_MIMALLOC || named == ALLOCATOR_GO || has_java(mappings);
}

/*
 * Return true if the process may contain V8, Ruby or Erlang. Anonymous executable memory
 * may come from V8's just-in-time compiler. The walkers of V8 and Ruby search a sparse
 * image only if the process contains code of Node.js or of Ruby, respectively.
 */
static bool may_have_runtime(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (is_code_of_node(m) || is_code_of_ruby(m) || is_code_of_erlang(m) ||
		    (m->flags & MAPPING_EXEC && m->inode == 0 && m->name[0] != '['))
			return true;
	}
	return false;
}

bool walk_may_be_arena(const struct mapping *m)
{
	return is_anonymous(m) &&
	       (strcmp(m->name, "[heap]") == 0 || m->start_addr % ARENA_ALIGN == 0);
}

bool walk_is_plain_glibc(const struct mapping_list *mappings)
{
	return find_named(mappings) == ALLOCATOR_UNKNOWN && !has_java(mappings) &&
	       !may_have_runtime(mappings);
}

bool walk_has_small_arenas(const struct mapping_list *mappings)
{
	uint64_t sum = 0, arenas = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!walk_wants_mapping(m))
			continue;
		sum = bytes_add(sum, mapping_copyable_bytes(m));
		if (walk_may_be_arena(m))
			arenas = bytes_add(arenas, mapping_copyable_bytes(m));
	}
	return bytes_known(sum) && arenas <= sum / ARENAS_SHARE &&
	       walk_is_plain_glibc(mappings);
}

bool walk_has_large_arenas(const struct mapping_list *mappings)
{
	return walk_is_plain_glibc(mappings) && !walk_has_small_arenas(mappings);
}
