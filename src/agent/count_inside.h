/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inside - what the parts of the library share that counts: the slot of a thread,
 * the functions behind it, and what is done in each call.
 *
 * Runs in other programs, in any of their threads, signal handlers, and before main(): no
 * locks, no allocation, errno as it was. With COUNT_WITHOUT_LIVE only calls and requested
 * bytes are counted; with COUNT_WITH_NEW an allocator's own new and delete are, too.
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

/* Not through the table of what other libraries may replace. */
#pragma GCC visibility push(hidden)

/*
 * The next ones of that name: the allocator that does the work. All are set once a thread
 * has a slot.
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
 * The word before a block is its size. Apart from those: each is one load, and no address
 * is kept over a call.
 */
extern bool count_has_glibc_heads;

/* Find them. Returns flags of enum count_flag. */
uint32_t count_next_find(void);

/* Whether a function is in the same file as the malloc behind. NULL is not. */
bool count_is_allocators(void *function);
/* Where C++'s new and delete are counted: what is behind them. */
void count_new_find(void);

/* NULL: it has none yet. */
extern __thread struct count_slot *count_own_slot __attribute__((tls_model("initial-exec")));

/*
 * Give the thread a slot. Returns NULL while the functions behind are being looked for,
 * which may allocate.
 */
struct count_slot *count_slot_take(void);
/*
 * There is more pending than ever, or less: it goes into the head's live_bytes, if it is
 * much. The first returns p.
 */
void *count_slot_rise(void *p);
void count_slot_fall(void);

/* Memory for the time when there is no malloc yet; it is never given back. */
void *count_arena_take(size_t alignment, size_t bytes);
#define COUNT_ARENA_BYTES 65536
extern char count_arena[COUNT_ARENA_BYTES];

/* In the word before a block of it, beside its size: no head of glibc's has that bit. */
#define COUNT_ARENA_BIT	   8
#define COUNT_ARENA_SHIFT  4
#define COUNT_GLIBC_MAPPED 2 /* a head of glibc's, of a block with a mapping of its own */

static inline bool count_arena_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)count_arena < sizeof(count_arena);
}

static inline struct count_slot *count_slot_own(void)
{
	struct count_slot *slot = count_own_slot;

	return count_likely(slot) ? slot : count_slot_take();
}

/*
 * After a call, when there is one: found anew, as to keep it, or where it is, would cost
 * a frame.
 */
static inline struct count_slot *count_slot_again(void)
{
#ifdef __x86_64__
	struct count_slot *slot;

	__asm__ volatile("movq count_own_slot@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
			 : "=r"(slot));
	return slot;
#else
	return count_own_slot;
#endif
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

/*
 * A block of any allocator. -1: of the arena. Where it is an ordinary block of glibc's
 * malloc and free count it without this, see count_has_plain_head().
 */
int64_t count_usable_bytes(void *p);

/* What the two below do, of any block, and of NULL. Returns p. */
void *count_given_slowly(void *p);

/*
 * Its size is the word before it, with three bits that are none of it, and no other case
 * to think of.
 */
static inline bool count_has_plain_head(const void *p)
{
	return count_likely(count_has_glibc_heads) &&
	       count_likely(!(((const size_t *)p)[-1] &
			      (COUNT_ARENA_BIT | COUNT_GLIBC_MAPPED)));
}

static inline int64_t count_plain_bytes(const void *p)
{
	return (int64_t)((((const size_t *)p)[-1] & ~(size_t)7) - 8);
}

/*
 * The call gave p, which may be NULL. Returns it: so that calls of what is rare need
 * nothing kept over them.
 */
static inline void *count_given(void *p)
{
	struct count_slot *slot = count_slot_again();

	if (count_unlikely(!p) || !count_has_plain_head(p))
		return count_given_slowly(p);
	slot->last_addr = (uint64_t)(uintptr_t)p;
	count_add_signed(&slot->pending_bytes, count_plain_bytes(p));
	if (count_unlikely(slot->pending_bytes > slot->high_bytes))
		return count_slot_rise(p);
	return p;
}

/*
 * A block of so many bytes is about to be given back. Returns whether count_slot_fall()
 * is due.
 */
static inline bool count_taken(struct count_slot *slot, uintptr_t addr, int64_t usable_bytes)
{
	count_add_signed(&slot->pending_bytes, -usable_bytes);
	if (slot->last_addr == addr)
		count_add(&slot->temporary_count, 1);
	slot->last_addr = 0;
	return count_unlikely(slot->pending_bytes < slot->low_bytes);
}

#pragma GCC visibility pop

/*
 * Before a call: no allocator gives more than PTRDIFF_MAX. What was added is kept, in a
 * place that the call's result goes to if there is one: if it fails it is taken off
 * again.
 */
static inline void count_requested(struct count_slot *slot, size_t bytes)
{
	if (count_unlikely(bytes > PTRDIFF_MAX))
		bytes = 0;
	if (COUNT_HAS_LIVE)
		slot->last_addr = bytes;
	count_add(&slot->requested_bytes, bytes);
}

#endif
