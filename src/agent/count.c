/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - malloc and its like, counted, then done by the next ones of that name. Preloaded into a program.
 */
#include "config.h"

#include "agent/count_inside.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if COUNT_HAS_LIVE
#	define GIVE(slot, bytes, call)                  \
		do {                                     \
			void *given = call;              \
			count_given(slot, given, bytes); \
			return given;                    \
		} while (0)
#else
#	define GIVE(slot, bytes, call)               \
		do {                                  \
			count_requested(slot, bytes); \
			return call;                  \
		} while (0)
#endif

COUNT_EXPORT void *malloc(size_t bytes)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(!slot))
		return count_arena_take(0, bytes);
	count_add(&slot->malloc_calls, 1);
	GIVE(slot, bytes, count_next.malloc(bytes));
}

COUNT_EXPORT void free(void *p)
{
	struct count_slot *slot = count_slot_own();

	/* what the loader got before there was a malloc; freeing nothing before there is one */
	if (count_unlikely(count_arena_has(p) || !slot))
		return;
	count_add(&slot->free_calls, 1);
	if (count_unlikely(!p)) {
		count_add(&slot->free_null_count, 1);
		return;
	}
#if COUNT_HAS_LIVE
	count_taken(slot, p, count_usable_bytes(p));
#endif
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
	GIVE(slot, product, count_next.calloc(count, bytes));
}

/* A block of before there was a malloc: how large it was is before it, too. */
static COUNT_COLD void *move_from_arena(void *p, size_t bytes)
{
	size_t old_bytes = ((const size_t *)p)[-1];
	void *moved = malloc(bytes);

	if (moved)
		memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
	return moved;
}

static inline void *resize(enum count_function function, void *p, size_t bytes)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(count_arena_has(p)))
		return move_from_arena(p, bytes);
	if (count_unlikely(!slot))
		return count_arena_take(0, bytes);
	count_add(&slot->calls[function], 1);
#if COUNT_HAS_LIVE
	int64_t old_bytes = p ? count_usable_bytes(p) : 0;
	uint64_t old_addr = (uint64_t)(uintptr_t)p;
	void *given = count_next.realloc(p, bytes);

	if (p && given)
		count_add(&slot->resized_count, 1);
	else if (p && bytes == 0)
		count_add(&slot->ended_count, 1);
	if (p && (given || bytes == 0)) {
		/* the old size goes first: what is pending is never more than was there */
		count_taken(slot, (void *)(uintptr_t)old_addr, old_bytes);
		if (!given)
			return NULL;
	}
	count_given(slot, given, bytes);
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
#if COUNT_HAS_LIVE
	int err = count_next.posix_memalign(ret, alignment, bytes);

	/* of 0 bytes it may be NULL, and then it is no block */
	count_given(slot, err == 0 ? *ret : NULL, bytes);
	return err;
#else
	count_requested(slot, bytes);
	return count_next.posix_memalign(ret, alignment, bytes);
#endif
}

#define ALIGNED(function, which)                                          \
	COUNT_EXPORT void *function(size_t alignment, size_t bytes)       \
	{                                                                 \
		struct count_slot *slot = count_slot_own();               \
									  \
		if (count_unlikely(!slot))                                \
			return count_arena_take(alignment, bytes);        \
		count_add(&slot->calls[which], 1);                        \
		GIVE(slot, bytes, count_next.function(alignment, bytes)); \
	}

ALIGNED(aligned_alloc, COUNT_ALIGNED_ALLOC)
ALIGNED(memalign, COUNT_MEMALIGN)

/* The loader has no use for pages: without a slot there is nothing to give. */
#define PAGES(function, which)                                 \
	COUNT_EXPORT void *function(size_t bytes)              \
	{                                                      \
		struct count_slot *slot = count_slot_own();    \
							       \
		if (count_unlikely(!slot))                     \
			return NULL;                           \
		count_add(&slot->calls[which], 1);             \
		GIVE(slot, bytes, count_next.function(bytes)); \
	}

PAGES(valloc, COUNT_VALLOC)
PAGES(pvalloc, COUNT_PVALLOC)
