/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inside - declarations that the parts of the counting library share: the slot of a
 * thread, the functions of the underlying allocator, and the work done in each call.
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
 * Hide the following symbols, so that code accesses them directly instead of through the
 * GOT, and other libraries cannot replace them.
 */
#pragma GCC visibility push(hidden)

/*
 * The functions of the real allocator, which are the next definitions in the dynamic
 * linker's lookup order. All members are set before any thread gets a slot.
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
 * True if the word before a block is its size, as in glibc. This is a separate variable
 * instead of a member of count_next, so that a single instruction can read it, and no
 * address has to be preserved across a call.
 */
extern bool count_has_glibc_heads;

/* Find the functions of count_next. Return a combination of flags of enum count_flag. */
uint32_t count_next_find(void);

/*
 * Return true if a function is in the same file as count_next.malloc. Return false for
 * NULL.
 */
bool count_is_allocators(void *function);
/*
 * Find the next definitions of C++ new and delete. Only libraries that count new and
 * delete define this function.
 */
void count_new_find(void);

/*
 * The slot for the thread's counts, or NULL. for_malloc and for_free are copies of the
 * pointer, but are NULL if malloc or free must use the slow path. The fast path therefore
 * needs only one test.
 */
struct count_own {
	struct count_slot *for_malloc, *for_free;
	struct count_slot *slot;
};
extern __thread struct count_own count_own __attribute__((tls_model("initial-exec")));

/*
 * Allocate a slot for the calling thread's counts. Return NULL while the functions of
 * count_next are being looked up, because the lookup itself may allocate memory.
 */
struct count_slot *count_slot_allocate(void);
/*
 * Add pending_bytes of the thread's slot to live_bytes in the file header. Return p
 * unchanged, so that malloc can call this function in a tail call.
 */
void *count_slot_flush(void *p);

/*
 * Prepare for a seccomp filter that the program is about to install, by reserving
 * resources that would later require system calls. After this call, the library makes
 * only the system calls that `wanted` allows. Call this function again with ASK_ALWAYS if
 * the filter was not installed after all.
 */
void count_slot_seal(enum ask_permission wanted);

/*
 * Store the new name of a thread in its slot, or remember the name until the thread has a
 * slot.
 */
void count_slot_set_name(uint32_t tid, const char *name);

/*
 * Allocate memory from the startup arena, for use before malloc is available. This memory
 * is never freed.
 */
void *count_arena_allocate(size_t alignment, size_t bytes);
#define COUNT_ARENA_BYTES 65536
extern char count_arena[COUNT_ARENA_BYTES];

/*
 * Flag in the word before a block from the startup arena. The word also contains the
 * block's size; glibc never sets this bit.
 */
#define COUNT_ARENA_BIT 8
#define COUNT_ARENA_SHIFT 4
/* Flag in glibc's block header: the block has its own mmap() mapping. */
#define COUNT_GLIBC_MAPPED 2

static inline bool count_arena_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)count_arena < sizeof(count_arena);
}

static inline struct count_slot *count_slot_own(void)
{
	struct count_slot *slot = count_own.slot;

	return count_likely(slot) ? slot : count_slot_allocate();
}

/*
 * Add to a counter with a single instruction, so that a signal handler cannot interrupt
 * the addition.
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
 * Compare and exchange in one instruction: if *at equals *was, set *at to `by` and return
 * true. Otherwise set *was to the current value and return false.
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
 * Return the usable size of a block of any allocator, or -1 for a block from the startup
 * arena. malloc and free do not call this function for ordinary blocks of glibc; see
 * count_is_plain().
 */
int64_t count_usable_bytes(void *p);

/* Like count_allocated(), but p may be NULL or a block of any allocator. Return p. */
void *count_allocated_slow(void *p);

/*
 * Return true if the word before a block is a size that needs no special handling: the
 * block is not from the startup arena, and does not have its own mapping. The word's low
 * three bits are flags. Requires count_has_glibc_heads.
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
 * Count the block p, the result of an allocating call; if p is NULL, count a failed call.
 * Requires count_has_glibc_heads. Return p, as do the functions that handle rare cases,
 * so that they can be called in a tail call.
 */
static inline void *count_allocated_plain(struct count_slot *slot, void *p)
{
	size_t head;

	if (count_unlikely(!p))
		return count_allocated_slow(p);
	head = ((const size_t *)p)[-1];
	if (count_unlikely(!count_is_plain(head)))
		return count_allocated_slow(p);
	slot->last_addr = (uint64_t)(uintptr_t)p;
	count_add_signed(&slot->pending_bytes, count_plain_bytes(head));
	if (count_unlikely(slot->pending_bytes > COUNT_FLUSH_BYTES))
		return count_slot_flush(p);
	return p;
}

static inline void *count_allocated(struct count_slot *slot, void *p)
{
	return count_likely(count_has_glibc_heads) ? count_allocated_plain(slot, p)
						   : count_allocated_slow(p);
}

static inline void count_update_high(struct count_slot *slot, int64_t pending)
{
	uint64_t high = *(volatile uint64_t *)&slot->high_bytes;

	while (pending > (int64_t)high &&
	       !count_replace((uint64_t *)&slot->high_bytes, &high, (uint64_t)pending))
		;
}

/*
 * Count the free of a block of this many bytes, before the block is freed. Return true if
 * the caller must call count_slot_flush(). The function updates the maximum of
 * pending_bytes before it decreases pending_bytes, so that allocations need not do so.
 */
static inline bool count_freed(struct count_slot *slot, uintptr_t addr,
			       int64_t usable_bytes)
{
	int64_t pending = slot->pending_bytes;

	if (count_unlikely(pending > slot->high_bytes))
		count_update_high(slot, pending);
	if (count_likely(slot->last_addr == addr))
		count_add(&slot->temporary_count, 1);
	slot->last_addr = 0;
	count_subtract(&slot->pending_bytes, usable_bytes);
	return count_unlikely(slot->pending_bytes < -COUNT_FLUSH_BYTES);
}

#pragma GCC visibility pop

/*
 * Count the requested bytes before an allocating call. During the call, last_addr
 * contains the number of bytes; if the call fails, count_allocated_slow() subtracts them
 * again. If only calls are counted (COUNT_WITHOUT_LIVE), the result of the call is not
 * checked. A request above PTRDIFF_MAX, which every allocator refuses, then counts as 0
 * bytes.
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
