/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - malloc and its like, counted, then done by the next ones of that name.
 * Preloaded into a program.
 */
#include "config.h"

#include "agent/count_inside.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "agent/count_stacks.h"

/*
 * What a call gives; where that is not looked at the call is the last thing that is done,
 * and costs no frame.
 */
static inline __attribute__((always_inline)) void *give(void *p, size_t bytes)
{
	if (COUNT_HAS_LIVE)
		p = count_given(p);
	count_stack_given(p, bytes);
	return p;
}

#if COUNT_HAS_STACKS
/* Called last by malloc: who called that has called this. */
static __attribute__((noinline)) void *malloc_recorded(size_t bytes)
{
	void *p = count_given(count_next.malloc(bytes));
	struct unwind_state start = COUNT_STACK_START;

	if (count_likely(p))
		count_stack_record(p, bytes, &start);
	else
		count_stack_not_given(bytes);
	return p;
}
#endif

static COUNT_COLD void *malloc_first(size_t bytes)
{
	return count_slot_take() ? malloc(bytes) : count_arena_take(0, bytes);
}

COUNT_EXPORT void *malloc(size_t bytes)
{
	struct count_slot *slot = count_own_slot;

	if (count_unlikely(!slot))
		return malloc_first(bytes);
	count_add(&slot->malloc_calls, 1);
	count_requested(slot, bytes);
#if COUNT_HAS_STACKS
	if (count_stack_is_due(bytes))
		return malloc_recorded(bytes);
	return count_given(count_next.malloc(bytes));
#else
	return give(count_next.malloc(bytes), bytes);
#endif
}

static COUNT_COLD void free_nothing(struct count_slot *slot)
{
	count_add(&slot->free_calls, 1);
	count_add(&slot->free_null_count, 1);
}

/* Before there is a malloc: nothing, or what the loader got then. */
static COUNT_COLD void free_first(void *p)
{
	if (count_slot_take())
		free(p);
}

static COUNT_COLD void free_and_fall(void *p)
{
	count_slot_fall();
	count_next.free(p);
}

/* Of any allocator, or of the arena. */
static __attribute__((noinline)) void free_slowly(void *p)
{
	struct count_slot *slot = count_own_slot;
	int64_t usable_bytes = count_usable_bytes(p);

	if (usable_bytes < 0)
		return;
	count_stack_taken(slot, p);
	count_add(&slot->free_calls, 1);
	if (count_taken(slot, (uintptr_t)p, usable_bytes))
		count_slot_fall();
	count_next.free(p);
}

COUNT_EXPORT void free(void *p)
{
	struct count_slot *slot = count_own_slot;

	if (count_unlikely(!slot))
		return free_first(p);
	if (count_unlikely(!p))
		return free_nothing(slot);
	if (!COUNT_HAS_LIVE) {
		if (count_unlikely(count_arena_has(p)))
			return;
		count_add(&slot->free_calls, 1);
	} else {
		if (!count_has_plain_head(p))
			return free_slowly(p);
		count_stack_taken(slot, p);
		count_add(&slot->free_calls, 1);
		if (count_taken(slot, (uintptr_t)p, count_plain_bytes(p)))
			return free_and_fall(p);
	}
	count_next.free(p);
}

COUNT_EXPORT void *calloc(size_t count, size_t bytes)
{
	struct count_slot *slot = count_slot_own();
	size_t product;

	if (__builtin_mul_overflow(count, bytes, &product))
		product = SIZE_MAX; /* which nobody gives */
	if (count_unlikely(!slot))
		return count_arena_take(0, product);
	count_add(&slot->calls[COUNT_CALLOC], 1);
	count_requested(slot, product);
	return give(count_next.calloc(count, bytes), product);
}

/* A block of before there was a malloc: how large it was is before it, too. */
static COUNT_COLD void *move_from_arena(void *p, size_t bytes)
{
	size_t old_bytes = ((const size_t *)p)[-1] >> COUNT_ARENA_SHIFT;
	void *moved = malloc(bytes);

	if (moved)
		memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
	return moved;
}

static inline __attribute__((always_inline)) void *resize(enum count_function function, void *p, size_t bytes)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(count_arena_has(p)))
		return move_from_arena(p, bytes);
	if (count_unlikely(!slot))
		return count_arena_take(0, bytes);
	count_add(&slot->calls[function], 1);
#if COUNT_HAS_LIVE
	int64_t old_bytes = p ? count_usable_bytes(p) : 0;
	uintptr_t old_addr = (uintptr_t)p;
	uint64_t last_addr = slot->last_addr, block = count_stack_before_resize(p);
	void *given;

	count_requested(slot, bytes);
	given = count_next.realloc(p, bytes);
	if (old_addr && given)
		count_add(&slot->resized_count, 1);
	else if (old_addr && bytes == 0)
		count_add(&slot->ended_count, 1);
	/* the old size goes first: what is pending is never more than was there */
	if (old_addr && (given || bytes == 0)) {
		slot->last_addr = last_addr;
		count_stack_resized(slot, old_addr, block);
		if (count_taken(slot, old_addr, old_bytes))
			count_slot_fall();
	} else {
		count_stack_not_resized(old_addr, block);
	}
	if (given || !old_addr || bytes > 0)
		give(given, bytes);
	return given;
#else
	count_requested(slot, bytes);
	return count_next.realloc(p, bytes);
#endif
}

COUNT_EXPORT void *realloc(void *p, size_t bytes)
{
	return resize(COUNT_REALLOC, p, bytes);
}

/* As glibc does it: by realloc, which it calls by that name. */
COUNT_EXPORT void *reallocarray(void *p, size_t count, size_t bytes)
{
	size_t product;

	if (count_unlikely(__builtin_mul_overflow(count, bytes, &product))) {
		struct count_slot *slot = count_slot_own();

		if (slot) {
			count_add(&slot->calls[COUNT_REALLOCARRAY], 1);
			count_add(&slot->failed_count, 1);
		}
		errno = ENOMEM;
		return NULL;
	}
	return resize(COUNT_REALLOCARRAY, p, product);
}

COUNT_EXPORT int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(!slot)) {
		*ret = count_arena_take(alignment, bytes);
		return *ret ? 0 : ENOMEM;
	}
	count_add(&slot->calls[COUNT_POSIX_MEMALIGN], 1);
	count_requested(slot, bytes);
#if COUNT_HAS_LIVE
	int err = count_next.posix_memalign(ret, alignment, bytes);

	/* of 0 bytes it may be NULL, and then it is no block */
	give(err == 0 ? *ret : NULL, bytes);
	return err;
#else
	return count_next.posix_memalign(ret, alignment, bytes);
#endif
}

#define ALIGNED(function, which)                                    \
	COUNT_EXPORT void *function(size_t alignment, size_t bytes) \
	{                                                           \
		struct count_slot *slot = count_slot_own();         \
								    \
		if (count_unlikely(!slot))                          \
			return count_arena_take(alignment, bytes);  \
		count_add(&slot->calls[which], 1);                  \
		count_requested(slot, bytes);                       \
		return give(count_next.function(alignment, bytes), bytes); \
	}

ALIGNED(aligned_alloc, COUNT_ALIGNED_ALLOC)
ALIGNED(memalign, COUNT_MEMALIGN)

/* The loader has no use for pages: without a slot there is nothing to give. */
#define PAGES(function, which)                              \
	COUNT_EXPORT void *function(size_t bytes)           \
	{                                                   \
		struct count_slot *slot = count_slot_own(); \
							    \
		if (count_unlikely(!slot))                  \
			return NULL;                        \
		count_add(&slot->calls[which], 1);          \
		count_requested(slot, bytes);               \
		return give(count_next.function(bytes), bytes); \
	}

PAGES(valloc, COUNT_VALLOC)
PAGES(pvalloc, COUNT_PVALLOC)
