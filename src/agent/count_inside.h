/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inside - what the parts of the library share that counts: the slot of a thread, the functions behind it, and
 * what is done in each call.
 *
 * Runs in other programs, in any of their threads, signal handlers, and before main(): no locks, no allocation,
 * errno as it was. With COUNT_WITHOUT_LIVE only calls and requested bytes are counted.
 */
#ifndef MS_AGENT_COUNT_INSIDE_H
#define MS_AGENT_COUNT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count_abi.h"

#define COUNT_EXPORT	  __attribute__((visibility("default")))
#define COUNT_COLD	  __attribute__((cold, noinline))
#define count_likely(x)	  __builtin_expect(!!(x), 1)
#define count_unlikely(x) __builtin_expect(!!(x), 0)

#ifdef COUNT_WITHOUT_LIVE
#	define COUNT_HAS_LIVE 0
#else
#	define COUNT_HAS_LIVE 1
#endif

/* The next ones of that name: the allocator that does the work. All are set once a thread has a slot. */
struct count_next {
	void *(*malloc)(size_t bytes);
	void (*free)(void *p);
	void *(*calloc)(size_t count, size_t bytes);
	void *(*realloc)(void *p, size_t bytes);
	int (*posix_memalign)(void **ret, size_t alignment, size_t bytes);
	void *(*aligned_alloc)(size_t alignment, size_t bytes);
	void *(*memalign)(size_t alignment, size_t bytes);
	void *(*valloc)(size_t bytes);
	void *(*pvalloc)(size_t bytes);
	size_t (*usable)(void *p);
	bool has_glibc_heads; /* the word before a block is its size */
};
extern struct count_next count_next;

/* NULL: it has none yet. */
extern __thread struct count_slot *count_own_slot __attribute__((tls_model("initial-exec")));

/* Give the thread a slot. Returns NULL while the functions behind are being looked for, which may allocate. */
struct count_slot *count_slot_take(void);
/* What is pending goes into the head's live_bytes. */
void count_slot_flush(struct count_slot *slot);

/* Memory for the time when there is no malloc yet; it is never given back. */
void *count_arena_take(size_t alignment, size_t bytes);
#define COUNT_ARENA_BYTES 65536
extern char count_arena[COUNT_ARENA_BYTES];

static inline bool count_arena_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)count_arena < sizeof(count_arena);
}

static inline struct count_slot *count_slot_own(void)
{
	struct count_slot *slot = count_own_slot;

	return count_likely(slot) ? slot : count_slot_take();
}

/* In one instruction: a signal handler that counts here, too, comes before or after it. */
static inline void count_add(uint64_t *counter, uint64_t by)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
#else
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
#endif
}

static inline void count_add_signed(int64_t *counter, int64_t by)
{
	count_add((uint64_t *)counter, (uint64_t)by);
}

static inline int64_t count_usable_bytes(void *p)
{
	if (count_likely(count_next.has_glibc_heads)) {
		size_t size = ((const size_t *)p)[-1];

		/* bit 1: mapped by itself, with a head of two words */
		return (int64_t)((size & ~(size_t)7) - 8 - ((size & 2) << 2));
	}
	return (int64_t)count_next.usable(p);
}

/* The call gave p, which may be NULL. */
static inline void count_given(struct count_slot *slot, void *p, size_t requested_bytes)
{
	if (count_unlikely(!p)) {
		count_add(&slot->failed_count, 1);
		return;
	}
	count_add(&slot->requested_bytes, requested_bytes);
	count_add_signed(&slot->pending_bytes, count_usable_bytes(p));
	slot->last_addr = (uint64_t)(uintptr_t)p;
	if (count_unlikely(slot->pending_bytes > slot->high_bytes)) {
		slot->high_bytes = slot->pending_bytes;
		if (slot->pending_bytes > COUNT_FLUSH_BYTES)
			count_slot_flush(slot);
	}
}

/* A block of so many bytes is about to be given back. */
static inline void count_taken(struct count_slot *slot, const void *p, int64_t usable_bytes)
{
	count_add_signed(&slot->pending_bytes, -usable_bytes);
	if (slot->last_addr == (uint64_t)(uintptr_t)p)
		count_add(&slot->temporary_count, 1);
	slot->last_addr = 0;
	if (count_unlikely(slot->pending_bytes < slot->low_bytes)) {
		slot->low_bytes = slot->pending_bytes;
		if (slot->pending_bytes < -COUNT_FLUSH_BYTES)
			count_slot_flush(slot);
	}
}

/* Where what the call gives is not looked at: no allocator gives more than PTRDIFF_MAX. */
static inline void count_requested(struct count_slot *slot, size_t bytes)
{
	if (count_likely(bytes <= PTRDIFF_MAX))
		count_add(&slot->requested_bytes, bytes);
}

#endif
