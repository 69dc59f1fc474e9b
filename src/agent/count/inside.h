/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - shared by the parts of the counting library: the slot of a thread, the
 * functions of the underlying allocator, and the work done in each call.
 *
 * The code runs in other programs: in any thread, in signal handlers, and before main().
 * It takes no locks, allocates nothing and preserves errno. With COUNT_WITHOUT_LIVE it
 * counts only calls and requested bytes; with COUNT_WITH_NEW it also counts an
 * allocator's own new and delete.
 */
#ifndef MS_AGENT_COUNT_INSIDE_H
#define MS_AGENT_COUNT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/abi.h"
#include "agent/system/ask.h"

#define COUNT_EXPORT __attribute__((visibility("default")))
#define COUNT_COLD __attribute__((cold, noinline))
#define COUNT_HOT __attribute__((hot, aligned(64)))
#define count_likely(x) __builtin_expect(!!(x), 1)
#define count_unlikely(x) __builtin_expect(!!(x), 0)

#ifdef COUNT_WITH_NEW
#	define COUNT_HAS_NEW 1
#else
#	define COUNT_HAS_NEW 0
#endif

#ifdef COUNT_WITHOUT_LIVE
#	define COUNT_HAS_LIVE 0
#else
#	define COUNT_HAS_LIVE 1
#endif

/*
 * Access the symbols below directly, not through the GOT, where other
 * libraries may replace them.
 */
#pragma GCC visibility push(hidden)

/*
 * The next definitions of these names: the allocator that does the work. All are set
 * once a thread has a slot.
 */
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
};
extern struct count_next count_next;
/*
 * The word before a block is its size. This is a separate variable, not a
 * member of count_next: reading it takes a single load, and no address has
 * to be kept across a call.
 */
extern bool count_has_glibc_heads;

/* Find the functions of count_next. Return flags of enum count_flag. */
uint32_t count_next_find(void);

/* Return whether a function is in the same file as the next malloc; false for NULL. */
bool count_is_allocators(void *function);
/* Find the next definitions of new and delete. Only in libraries that count them. */
void count_new_find(void);

/*
 * The thread's slot, or NULL if it has none yet. for_malloc and for_free are copies
 * that are NULL where malloc or free must take the slow path: a single test on the
 * fast path covers both cases.
 */
struct count_own {
	struct count_slot *for_malloc, *for_free;
	struct count_slot *slot;
};
extern __thread struct count_own count_own __attribute__((tls_model("initial-exec")));

/*
 * Give the thread a slot. Return NULL while the next functions are being
 * looked up, which may allocate.
 */
struct count_slot *count_slot_take(void);
/* Add the pending_bytes of the thread's slot to the header's live_bytes. Return p. */
void *count_slot_flush(void *p);

/*
 * The program is about to install a seccomp filter: reserve what later system calls would
 * obtain, and from now on make no system calls other than permission allows. ASK_ALWAYS:
 * the filter was not installed after all.
 */
void count_slot_seal(enum ask_permission wanted);

/* Copy the new name of a thread, now or when the thread gets a slot. */
void count_slot_set_name(uint32_t tid, const char *name);

/* Allocate memory before malloc is available. It is never freed. */
void *count_arena_take(size_t alignment, size_t bytes);
#define COUNT_ARENA_BYTES 65536
extern char count_arena[COUNT_ARENA_BYTES];

/* Set in the word before an arena block, next to the size. glibc never sets this bit. */
#define COUNT_ARENA_BIT 8
#define COUNT_ARENA_SHIFT 4
#define COUNT_GLIBC_MAPPED 2 /* set in glibc's header: the block has its own mapping */

static inline bool count_arena_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)count_arena < sizeof(count_arena);
}

static inline struct count_slot *count_slot_own(void)
{
	struct count_slot *slot = count_own.slot;

	return count_likely(slot) ? slot : count_slot_take();
}

/*
 * Add in one instruction: a signal handler that counts too runs before
 * or after the addition.
 */
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

static inline void count_subtract(int64_t *counter, int64_t by)
{
#ifdef __x86_64__
	__asm__("subq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
#else
	count_add_signed(counter, -by);
#endif
}

/*
 * Replace *at with by, in one instruction, if it equals *was. Return whether it did;
 * otherwise *was is the current value.
 */
static inline bool count_replace(uint64_t *at, uint64_t *was, uint64_t by)
{
#ifdef __x86_64__
	bool is_done;

	__asm__("cmpxchgq %3, %1" : "=@ccz"(is_done), "+m"(*at), "+a"(*was) : "r"(by));
	return is_done;
#else
	return __atomic_compare_exchange_n(at, was, by, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

/*
 * Return the usable size of a block of any allocator, or -1 for an arena block. malloc
 * and free handle ordinary glibc blocks without this function, see count_is_plain().
 */
int64_t count_usable_bytes(void *p);

/* Like count_given(), for any block and for NULL. Return p. */
void *count_given_slowly(void *p);

/*
 * Return whether the word before a block is a plain size: its low three bits are flags,
 * and neither an arena block nor a block with its own mapping needs special handling.
 * Requires count_has_glibc_heads.
 */
static inline bool count_is_plain(size_t head)
{
	return !(head & (COUNT_ARENA_BIT | COUNT_GLIBC_MAPPED));
}

static inline int64_t count_plain_bytes(size_t head)
{
	return (int64_t)((head & ~(size_t)7) - 8);
}

/*
 * Count the block p that a call returned, or a failure if p is NULL. Requires
 * count_has_glibc_heads. Return p, so that the rare cases are tail calls and
 * nothing is kept across them.
 */
static inline void *count_given_plain(struct count_slot *slot, void *p)
{
	size_t head;

	if (count_unlikely(!p))
		return count_given_slowly(p);
	head = ((const size_t *)p)[-1];
	if (count_unlikely(!count_is_plain(head)))
		return count_given_slowly(p);
	slot->last_addr = (uint64_t)(uintptr_t)p;
	count_add_signed(&slot->pending_bytes, count_plain_bytes(head));
	if (count_unlikely(slot->pending_bytes > COUNT_FLUSH_BYTES))
		return count_slot_flush(p);
	return p;
}

static inline void *count_given(struct count_slot *slot, void *p)
{
	return count_likely(count_has_glibc_heads) ? count_given_plain(slot, p)
						   : count_given_slowly(p);
}

static inline void count_note_high(struct count_slot *slot, int64_t pending)
{
	uint64_t high = *(volatile uint64_t *)&slot->high_bytes;

	while (pending > (int64_t)high &&
	       !count_replace((uint64_t *)&slot->high_bytes, &high, (uint64_t)pending))
		;
}

/*
 * A block of this many bytes is about to be freed. Return whether
 * count_slot_flush() is due. The maximum of pending_bytes is noted here, before it
 * shrinks, and not while it grows.
 */
static inline bool count_taken(struct count_slot *slot, uintptr_t addr,
			       int64_t usable_bytes)
{
	int64_t pending = slot->pending_bytes;

	if (count_unlikely(pending > slot->high_bytes))
		count_note_high(slot, pending);
	if (count_likely(slot->last_addr == addr))
		count_add(&slot->temporary_count, 1);
	slot->last_addr = 0;
	count_subtract(&slot->pending_bytes, usable_bytes);
	return count_unlikely(slot->pending_bytes < -COUNT_FLUSH_BYTES);
}

#pragma GCC visibility pop

/*
 * Count the requested bytes before a call. last_addr holds them during the call; if
 * the call fails, count_given_slowly() subtracts them again. Without live counting
 * nobody checks the result, so a request above PTRDIFF_MAX, which every allocator
 * refuses, counts as 0 bytes.
 */
static inline void count_requested(struct count_slot *slot, size_t bytes)
{
	if (COUNT_HAS_LIVE)
		slot->last_addr = bytes;
	else if (count_unlikely(bytes > PTRDIFF_MAX))
		bytes = 0;
	count_add(&slot->requested_bytes, bytes);
}

#endif
