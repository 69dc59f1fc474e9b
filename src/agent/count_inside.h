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

#include "agent/ask.h"
#include "agent/count_abi.h"

#define COUNT_EXPORT	  __attribute__((visibility("default")))
#define COUNT_COLD	  __attribute__((cold, noinline))
#define COUNT_HOT	  __attribute__((hot, aligned(64)))
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

/*
 * The thread's slot; NULL: it has none yet. And twice more, NULL where malloc and free
 * have to do more than what they do at once: one look tells them both.
 */
struct count_own {
	struct count_slot *for_malloc, *for_free;
	struct count_slot *slot;
};
extern __thread struct count_own count_own __attribute__((tls_model("initial-exec")));

/*
 * Give the thread a slot. Returns NULL while the functions behind are being looked for,
 * which may allocate.
 */
struct count_slot *count_slot_take(void);
/* There is much pending: it goes into the head's live_bytes. Returns p. */
void *count_slot_flush(void *p);

/*
 * The program is about to install a seccomp filter: reserve what later system calls would
 * get, and make no more than permission allows from now on. ASK_ALWAYS: it was not
 * installed after all.
 */
void count_slot_seal(enum ask_permission wanted);

/* The thread got a name: it is copied, now or when the thread gets a slot. */
void count_slot_set_name(uint32_t tid, const char *name);

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
	struct count_slot *slot = count_own.slot;

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

static inline void count_subtract(int64_t *counter, int64_t by)
{
#ifdef __x86_64__
	__asm__("subq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
#else
	count_add_signed(counter, -by);
#endif
}

/* Likewise, if it is as it was. Returns whether; *was is what it is. */
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
 * A block of any allocator. -1: of the arena. Where it is an ordinary block of glibc's
 * malloc and free count it without this, see count_has_plain_head().
 */
int64_t count_usable_bytes(void *p);

/* What count_given() does, of any block, and of NULL. Returns p. */
void *count_given_slowly(void *p);

/*
 * Of a word before a block, where count_has_glibc_heads: it is the block's size, with
 * three bits that are none of it, and there is no other case to think of.
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
 * The call gave p, which may be NULL, where count_has_glibc_heads. Returns it: so that
 * calls of what is rare need nothing kept over them.
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
	return count_likely(count_has_glibc_heads) ? count_given_plain(slot, p) :
						     count_given_slowly(p);
}

static inline void count_note_high(struct count_slot *slot, int64_t pending)
{
	uint64_t high = *(volatile uint64_t *)&slot->high_bytes;

	while (pending > (int64_t)high &&
	       !count_replace((uint64_t *)&slot->high_bytes, &high, (uint64_t)pending))
		;
}

/*
 * A block of so many bytes is about to be given back. Returns whether count_slot_flush()
 * is due. The most there was is noted when there will be less, not while it grows.
 */
static inline bool count_taken(struct count_slot *slot, uintptr_t addr, int64_t usable_bytes)
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
 * Before a call. What was added is kept, in a place that the call's result goes to if
 * there is one: if it fails it is taken off again. Where results are not looked at: no
 * allocator gives more than PTRDIFF_MAX.
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
