/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "model/allocator_signs.h"
#include "walk/glibc/walk.h"
#include "walk/jemalloc/walk.h"
#include "walk/mallocng/walk.h"

static const char *const unread[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_UNKNOWN] =
		"the program contains no malloc of glibc or musl 1.2, and no jemalloc",
	[ALLOCATOR_MUSL] =
		"it is musl's malloc, but not mallocng, as in musl 1.2.1 to 1.2.5",
	[ALLOCATOR_JEMALLOC] = "it is jemalloc, but not one of the versions 5.0 to 5.3",
	[ALLOCATOR_TCMALLOC] = "it is tcmalloc, whose heap memstate cannot read",
	[ALLOCATOR_MIMALLOC] = "it is mimalloc, whose heap memstate cannot read",
	[ALLOCATOR_GO] = "it is a Go program, whose heap memstate cannot read",
	[ALLOCATOR_PARTITION] =
		"it is PartitionAlloc (Chromium), whose heap memstate cannot read",
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
 * Return the allocator that the mappings show, or ALLOCATOR_UNKNOWN if that is glibc's.
 */
static enum allocator find_named(const struct mapping_list *mappings)
{
	const struct allocator_signs signs = find_signs(mappings);
	enum allocator named = allocator_signs_find(&signs);

	return named == ALLOCATOR_GLIBC ? ALLOCATOR_UNKNOWN : named;
}

static uint64_t owned_bytes(const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap->owner_bytes[o];
	return sum;
}

/* Return true if the heap contains more than half of the memory that any heap may use. */
static bool has_most(const struct walk_input *input, const struct heap *heap)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < input->mappings->count; i++) {
		const struct mapping *m = &input->mappings->items[i];

		if (is_anonymous(m))
			sum += image_resident_bytes(input->image, m->start_addr,
						    m->end_addr);
	}
	return owned_bytes(heap) > sum / 2;
}

static void discard_heap(struct heap *heap, struct blocks *blocks,
			 enum allocator allocator)
{
	heap_release(heap);
	blocks_release(blocks);
	heap->allocator = allocator;
	heap->problem = unread[allocator];
}

typedef void (*walker)(const struct walk_input *input, struct heap *ret,
		       struct blocks *ret_blocks);

/*
 * All walkers. If the heaps of several are found, the one with the most resident memory
 * is kept; of equal ones, the last.
 */
static const walker walkers[] = { walk_glibc, walk_jemalloc, walk_mallocng };

/*
 * Return true if the heap `other` is to be kept instead of `kept`. jemalloc replaces
 * libc's malloc, so its heap is the one in use even if it cannot be read.
 */
static bool is_better(const struct heap *other, const struct heap *kept)
{
	if (other->allocator == ALLOCATOR_UNKNOWN)
		return false;
	if (other->quality == QUALITY_UNKNOWN)
		return other->allocator == ALLOCATOR_JEMALLOC ||
		       kept->allocator == ALLOCATOR_UNKNOWN;
	return owned_bytes(other) >= owned_bytes(kept);
}

/* Run all walkers, and keep the heap that has most resident memory. */
static void walk_any(const struct walk_input *input, struct heap *ret,
		     struct blocks *ret_blocks)
{
	walkers[0](input, ret, ret_blocks);
	for (size_t i = 1; i < sizeof(walkers) / sizeof(walkers[0]); i++) {
		struct blocks other_blocks;
		struct heap other;

		walkers[i](input, &other, &other_blocks);
		if (is_better(&other, ret)) {
			heap_release(ret);
			blocks_release(ret_blocks);
			*ret = other;
			*ret_blocks = other_blocks;
			continue;
		}
		heap_release(&other);
		blocks_release(&other_blocks);
	}
}

void walk_heap(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks)
{
	enum allocator named = find_named(input->mappings);
	bool may_be_other;

	walk_any(input, ret, ret_blocks);
	/* if the program contains jemalloc, musl's malloc is not used */
	may_be_other = named != ALLOCATOR_UNKNOWN && named != ret->allocator &&
		       !(named == ALLOCATOR_MUSL && ret->allocator == ALLOCATOR_JEMALLOC);
	if (may_be_other && !has_most(input, ret))
		discard_heap(ret, ret_blocks, named);
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
	    code.is_found[ALLOCATOR_JEMALLOC] || code.is_found[ALLOCATOR_MUSL])
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
	heap_release(ret);
	ret->allocator = named;
	ret->problem = unread[named];
	return true;
}
