/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define SMALL_COUNT 64
#define SMALL_STEP UINT64_C(16)
#define SMALL_MAX (SMALL_COUNT * SMALL_STEP)
#define SMALL_LOG2 10
#define CLASS_COUNT (SMALL_COUNT + 54)

const char *const heap_stretch_names[HEAP_STRETCH_COUNT_] = {
	[HEAP_ACTIVE] = "active",
	[HEAP_DIRTY] = "dirty",
	[HEAP_MUZZY] = "muzzy",
	[HEAP_RETAINED] = "retained",
};

void heap_init(struct heap *heap)
{
	memset(heap, 0, sizeof(*heap));
	heap->trimmable_bytes = BYTES_UNKNOWN;
	heap->class_count = CLASS_COUNT;
	for (size_t i = 0; i < CLASS_COUNT; i++) {
		struct heap_class *c = &heap->classes[i];

		if (i < SMALL_COUNT) {
			c->upper_bytes = (i + 1) * SMALL_STEP;
			c->lower_bytes = c->upper_bytes;
		} else {
			unsigned int log2 = SMALL_LOG2 + (unsigned int)(i - SMALL_COUNT);

			c->lower_bytes = (UINT64_C(1) << log2) + 1;
			c->upper_bytes = log2 < 63 ? UINT64_C(2) << log2 : UINT64_MAX;
		}
	}
}

void heap_release(struct heap *heap)
{
	for (size_t i = 0; i < heap->other_count; i++)
		heap_release(&heap->others[i]);
	free(heap->others);
	free(heap->arenas);
	free(heap->shares);
	free(heap->empty_ranges);
	heap_init(heap);
}

struct heap *heap_add_other(struct heap *heap)
{
	struct heap *other;

	heap->others =
		xrealloc(heap->others, (heap->other_count + 1) * sizeof(*heap->others));
	other = &heap->others[heap->other_count++];
	heap_init(other);
	return other;
}

bool heap_is_oldmalloc(const struct heap *heap)
{
	return heap->allocator == ALLOCATOR_MUSL &&
	       strcmp(heap->version, HEAP_OLDMALLOC) == 0;
}

struct heap_space *heap_add_space(struct heap *heap, const char *name)
{
	struct heap_space *space = &heap->spaces[heap->space_count++];

	*space = (struct heap_space){ .name = name };
	return space;
}

size_t heap_count(const struct heap *heap)
{
	return 1 + heap->other_count;
}

const struct heap *heap_at(const struct heap *heap, size_t index)
{
	return index == 0 ? heap : &heap->others[index - 1];
}

enum quality heap_total_quality(const struct heap *heap)
{
	enum quality lowest = QUALITY_EXACT;
	bool is_any_known = false;

	for (size_t i = 0; i < heap_count(heap); i++) {
		enum quality quality = heap_at(heap, i)->quality;

		is_any_known = is_any_known || quality != QUALITY_UNKNOWN;
		if (quality == QUALITY_UNKNOWN)
			quality = QUALITY_BOUND;
		lowest = quality < lowest ? quality : lowest;
	}
	return is_any_known ? lowest : QUALITY_UNKNOWN;
}

const char *heap_total_problem(const struct heap *heap)
{
	const char *problem = NULL;

	for (size_t i = 0; i < heap_count(heap) && !problem; i++)
		problem = heap_at(heap, i)->problem;
	return problem;
}

uint64_t heap_total_bytes(const struct heap *heap, enum owner owner)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < heap_count(heap); i++)
		sum = bytes_add(sum, heap_at(heap, i)->owner_bytes[owner]);
	return sum;
}

uint64_t heap_total_trimmable(const struct heap *heap)
{
	uint64_t sum = BYTES_UNKNOWN;

	for (size_t i = 0; i < heap_count(heap); i++) {
		uint64_t bytes = heap_at(heap, i)->trimmable_bytes;

		if (bytes_known(bytes))
			sum = bytes_known(sum) ? bytes_add(sum, bytes) : bytes;
	}
	return sum;
}

static int compare_shares(const void *a, const void *b)
{
	size_t left = ((const struct heap_share *)a)->mapping;
	size_t right = ((const struct heap_share *)b)->mapping;

	return (left > right) - (left < right);
}

struct heap_share *heap_total_shares(const struct heap *heap, size_t *ret_count)
{
	struct heap_share *shares;
	size_t count = 0, merged = 0;

	for (size_t i = 0; i < heap_count(heap); i++)
		count += heap_at(heap, i)->share_count;
	shares = xcalloc(count + 1, sizeof(*shares));
	count = 0;
	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap *part = heap_at(heap, i);

		for (size_t k = 0; k < part->share_count; k++)
			shares[count++] = part->shares[k];
	}
	qsort(shares, count, sizeof(*shares), compare_shares);
	for (size_t i = 0; i < count; i++) {
		struct heap_share *to = merged > 0 ? &shares[merged - 1] : NULL;

		if (!to || to->mapping != shares[i].mapping) {
			shares[merged++] = shares[i];
			continue;
		}
		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			to->owner_bytes[o] =
				bytes_add(to->owner_bytes[o], shares[i].owner_bytes[o]);
	}
	*ret_count = merged;
	return shares;
}

static void add_sum(struct chunk_sum *to, const struct chunk_sum *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
}

void heap_sum_arenas(const struct heap *heap, struct heap_arena *ret)
{
	*ret = (struct heap_arena){ 0 };
	for (size_t i = 0; i < heap->arena_count; i++) {
		const struct heap_arena *arena = &heap->arenas[i];

		if (arena->problem)
			continue;
		add_sum(&ret->live, &arena->live);
		add_sum(&ret->cached, &arena->cached);
		add_sum(&ret->fast, &arena->fast);
		add_sum(&ret->bin, &arena->bin);
		add_sum(&ret->own, &arena->own);
		for (size_t s = 0; s < HEAP_STRETCH_COUNT_; s++) {
			ret->stretches[s].count += arena->stretches[s].count;
			ret->stretches[s].bytes += arena->stretches[s].bytes;
			ret->stretches[s].resident_bytes +=
				arena->stretches[s].resident_bytes;
		}
	}
}

const char *heap_trim_call(enum allocator allocator)
{
	static const char *const calls[ALLOCATOR_COUNT_] = {
		[ALLOCATOR_GLIBC] = "malloc_trim(0)",
		[ALLOCATOR_JEMALLOC] = "arena.<all>.purge",
		[ALLOCATOR_TCMALLOC] = "MallocExtension_ReleaseFreeMemory()",
		[ALLOCATOR_MIMALLOC] = "mi_collect(true)",
		[ALLOCATOR_GO] = "debug.FreeOSMemory()",
		[ALLOCATOR_HOTSPOT] = "System.gc()",
		[ALLOCATOR_PHP] = "gc_mem_caches()",
	};

	return calls[allocator];
}

bool heap_has_caches(enum allocator allocator)
{
	return allocator == ALLOCATOR_GLIBC || allocator == ALLOCATOR_JEMALLOC ||
	       allocator == ALLOCATOR_TCMALLOC || allocator == ALLOCATOR_PARTITION;
}

size_t heap_class_index(uint64_t chunk_bytes)
{
	if (chunk_bytes == 0)
		return 0;
	if (chunk_bytes <= SMALL_MAX)
		return (size_t)((chunk_bytes - 1) / SMALL_STEP);
	return (size_t)(SMALL_COUNT + (63 - __builtin_clzll(chunk_bytes - 1)) -
			SMALL_LOG2);
}
