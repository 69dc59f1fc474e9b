/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - definitions of malloc and related functions, in a library that is
 * preloaded into a program. Each function counts the call, and passes it to the next
 * definition of the same name.
 */
#include "config.h"

#include "agent/count/inside.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "agent/count/stacks.h"

/*
 * Return `result`. The assembly statement prevents the compiler from turning the
 * preceding call into a tail call. Otherwise, if the allocator made a tail call to
 * another of its entry points, that call would seem to come from the program; see
 * entry.c.
 */
static inline uintptr_t returned(uintptr_t result)
{
	__asm__ volatile("" : "+r"(result));
	return result;
}

/*
 * malloc and free each have a fast and a slow path. The fast path calls only the
 * allocator, and reads the block's size from memory. It requires that the thread has a
 * slot for its counts, and that the allocator stores the size in front of each block. All
 * other cases use the slow path. It is entered through a tail call, so that its return
 * address is that of malloc, where recorded call stacks begin.
 */

/*
 * Count the block p, the result of an allocating call. If p is NULL, count a failed call.
 * Return p.
 */
static inline __attribute__((always_inline)) void *count_returned(struct count_slot *slot,
								  void *p, size_t bytes)
{
	p = (void *)returned((uintptr_t)p);
	if (COUNT_HAS_LIVE)
		p = count_allocated(slot, p);
	count_stack_allocated(slot, p, bytes);
	return p;
}

static __attribute__((noinline)) void *malloc_slow(size_t bytes)
{
	struct count_slot *slot = count_slot_own();
	void *p;

	if (count_unlikely(!slot))
		return count_arena_allocate(0, bytes);
	count_add(&slot->malloc_calls, 1);
	count_requested(slot, bytes);
	p = count_next.malloc(bytes);
	if (COUNT_HAS_LIVE)
		p = count_allocated(slot, p);
	count_stack_allocated_by_malloc(slot, p, bytes);
	return p;
}

#if COUNT_HAS_STACKS
/*
 * Call the allocator's malloc on behalf of a counted call to malloc, and record the call
 * stack.
 */
static __attribute__((noinline)) void *malloc_recorded(size_t bytes)
{
	struct count_slot *slot = count_own.slot;
	void *p = count_allocated_plain(slot, count_next.malloc(bytes));

	count_stack_allocated_by_malloc(slot, p, bytes);
	return p;
}
#endif

COUNT_EXPORT COUNT_HOT void *malloc(size_t bytes)
{
	struct count_slot *slot = count_own.for_malloc;

	if (count_unlikely(!slot))
		return malloc_slow(bytes);
	count_add(&slot->malloc_calls, 1);
	count_requested(slot, bytes);
#if COUNT_HAS_STACKS
	if (count_stack_is_due(slot))
		return malloc_recorded(bytes);
#endif
#if COUNT_HAS_LIVE
	return count_allocated_plain(slot, count_next.malloc(bytes));
#else
	return count_next.malloc(bytes);
#endif
}

/*
 * Like count_usable_bytes(), but make no function call for an ordinary block of glibc. p
 * must not be NULL.
 */
static inline int64_t usable_bytes_of(void *p)
{
	/*
	 * read the word before the block only if the allocator is glibc's; with other
	 * allocators, the word may be in an unmapped page
	 */
	if (COUNT_HAS_LIVE && count_likely(count_has_glibc_heads)) {
		size_t head = ((const size_t *)p)[-1];

		if (count_likely(count_is_plain(head)))
			return count_plain_bytes(head);
	}
	return count_usable_bytes(p);
}

static __attribute__((noinline)) void free_slow(void *p)
{
	struct count_slot *slot = count_slot_own();
	int64_t usable_bytes;

	/*
	 * A thread without a slot frees only blocks that the dynamic linker allocated
	 * from the startup arena. Ignore them, because the arena's memory is never
	 * reused.
	 */
	if (count_unlikely(!slot))
		return;
	if (!p) {
		count_add(&slot->free_calls, 1);
		count_add(&slot->free_null_count, 1);
		return;
	}
	usable_bytes = usable_bytes_of(p);
	if (usable_bytes < 0)
		return;
	if (COUNT_HAS_LIVE) {
		count_stack_freed(slot, p);
		if (count_freed(slot, (uintptr_t)p, usable_bytes))
			count_slot_flush(NULL);
	}
	count_add(&slot->free_calls, 1);
	count_next.free(p);
}

#if COUNT_HAS_LIVE
static COUNT_COLD void free_and_flush(void *p)
{
	count_slot_flush(NULL);
	count_next.free(p);
}
#endif

COUNT_EXPORT COUNT_HOT void free(void *p)
{
	struct count_slot *slot = count_own.for_free;

	if (count_unlikely(!slot) || count_unlikely(!p))
		return free_slow(p);
#if COUNT_HAS_LIVE
	size_t head = ((const size_t *)p)[-1];

	if (count_unlikely(!count_is_plain(head)) || count_stack_was_last(slot, p))
		return free_slow(p);
	count_add(&slot->free_calls, 1);
	if (count_freed(slot, (uintptr_t)p, count_plain_bytes(head)))
		return free_and_flush(p);
#else
	if (count_unlikely(count_arena_has(p)))
		return;
	count_add(&slot->free_calls, 1);
#endif
	count_next.free(p);
}

COUNT_EXPORT void *calloc(size_t count, size_t bytes)
{
	struct count_slot *slot = count_slot_own();
	size_t product;

	if (__builtin_mul_overflow(count, bytes, &product))
		/*
		 * on overflow, request SIZE_MAX bytes, which is more than any
		 * allocator can provide
		 */
		product = SIZE_MAX;
	if (count_unlikely(!slot))
		return count_arena_allocate(0, product);
	count_add(&slot->calls[COUNT_CALLOC], 1);
	count_requested(slot, product);
	return count_returned(slot, count_next.calloc(count, bytes), product);
}

/*
 * Move a block from the startup arena, which provides memory before malloc is available,
 * to the heap. The word before the old block contains its size. Return the new block, or
 * NULL.
 */
static COUNT_COLD void *move_from_arena(void *p, size_t bytes)
{
	size_t old_bytes = ((const size_t *)p)[-1] >> COUNT_ARENA_SHIFT;
	void *moved = malloc(bytes);

	if (moved)
		memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
	return moved;
}

static inline __attribute__((always_inline)) void *resize(enum count_function function,
							  void *p, size_t bytes)
{
	struct count_slot *slot = count_slot_own();

	if (count_unlikely(count_arena_has(p)))
		return move_from_arena(p, bytes);
	if (count_unlikely(!slot))
		return count_arena_allocate(0, bytes);
	count_add(&slot->calls[function], 1);
#if COUNT_HAS_LIVE
	int64_t old_bytes = p ? count_usable_bytes(p) : 0;
	struct count_resize old = count_resize_begin(slot, p, old_bytes);
	void *given;

	count_requested(slot, bytes);
	given = count_next.realloc(p, bytes);
	if (count_resize_end(slot, &old, given, bytes))
		count_returned(slot, given, bytes);
	return given;
#else
	count_requested(slot, bytes);
	return (void *)returned((uintptr_t)count_next.realloc(p, bytes));
#endif
}

COUNT_EXPORT void *realloc(void *p, size_t bytes)
{
	return resize(COUNT_REALLOC, p, bytes);
}

/*
 * Call the allocator's realloc instead of its reallocarray, because glibc's reallocarray
 * calls realloc by name. The call would then be counted twice.
 */
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
		*ret = count_arena_allocate(alignment, bytes);
		return *ret ? 0 : ENOMEM;
	}
	count_add(&slot->calls[COUNT_POSIX_MEMALIGN], 1);
	count_requested(slot, bytes);
#if COUNT_HAS_LIVE
	int err = count_next.posix_memalign(ret, alignment, bytes);

	/*
	 * *ret may be NULL although posix_memalign() succeeded, if the requested size is
	 * 0
	 */
	count_returned(slot, err == 0 ? *ret : NULL, bytes);
	return err;
#else
	return (int)returned((uintptr_t)count_next.posix_memalign(ret, alignment, bytes));
#endif
}

#define ALIGNED(function, which)                                                   \
	COUNT_EXPORT void *function(size_t alignment, size_t bytes)                \
	{                                                                          \
		struct count_slot *slot = count_slot_own();                        \
                                                                                   \
		if (count_unlikely(!slot))                                         \
			return count_arena_allocate(alignment, bytes);             \
		count_add(&slot->calls[which], 1);                                 \
		count_requested(slot, bytes);                                      \
		return count_returned(slot, count_next.function(alignment, bytes), \
				      bytes);                                      \
	}

ALIGNED(aligned_alloc, COUNT_ALIGNED_ALLOC)
ALIGNED(memalign, COUNT_MEMALIGN)

/*
 * Define valloc() or pvalloc(). If the thread has no slot yet, the function returns NULL:
 * only the dynamic linker can call it so early, and the dynamic linker never allocates
 * whole pages.
 */
#define PAGES(function, which)                                                  \
	COUNT_EXPORT void *function(size_t bytes)                               \
	{                                                                       \
		struct count_slot *slot = count_slot_own();                     \
                                                                                \
		if (count_unlikely(!slot))                                      \
			return NULL;                                            \
		count_add(&slot->calls[which], 1);                              \
		count_requested(slot, bytes);                                   \
		return count_returned(slot, count_next.function(bytes), bytes); \
	}

PAGES(valloc, COUNT_VALLOC)
PAGES(pvalloc, COUNT_PVALLOC)
