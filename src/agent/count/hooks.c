/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks - the functions that count calls to malloc in a running process, as described in
 * hooks.h. They run in other programs, in any thread and in signal handlers. Therefore
 * they use no libc and no locks, do not change errno, and need no stack frame if the
 * thread has a slot. A stack is recorded before the original function is called, so
 * failing calls are recorded too.
 */
#include "agent/count/hooks_inside.h"

#include <linux/errno.h>
#include <stdbool.h>

#include "agent/count/hooks_keep.h"
#include "agent/system/blob_memory.h"
#include "agent/system/syscalls.h"

#if defined(AGENT_BLOB) && defined(__SSE__)
#	error "compile hooks.c with -mgeneral-regs-only, see hooks_keep.h"
#endif

#define COLD __attribute__((cold, noinline))
#define HOOK __attribute__((used, visibility("hidden")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* number of thread table entries that may store a key, starting at the key's index */
#define WINDOW 32u
/* Number of entries of the thread table that a new thread checks for ended threads. */
#define ENDED_LOOKS 32u

/*
 * Contents of a deleted entry of the thread table. A search continues past such an entry.
 */
#define TOMB (UINT64_C(1) << 32)

#define OFFSET(symbol, function) ".long hook_" #symbol " - hooks_head\n"
#define EXTRA_OFFSET(symbol, call, size) OFFSET(symbol, call)

/* The linker script hooks.ld defines the symbol hooks_end. */
__asm__(".section .text.head, \"ax\"\n"
	".globl hooks_head\n"
	".hidden hooks_head\n"
	"hooks_head:\n"
	".zero 8 * 128\n"
	".long 0x4843534d, 4\n"
	".long hooks_end - hooks_head\n"
	".long (0f - 1f) / 4\n"
	"1:\n" HOOKS_STANDARD(OFFSET)
		COUNT_EXTRA(EXTRA_OFFSET) "0:\n"
					  ".zero 1600 - (0b - hooks_head)\n"
					  ".previous\n");

extern const struct hooks_head hooks_head __attribute__((visibility("hidden")));
extern char hooks_counts[] __attribute__((visibility("hidden")));

static inline struct count_head *counts_head(void)
{
	return (struct count_head *)(void *)hooks_counts;
}

static inline struct count_slot *slot_at(uint32_t offset)
{
	return (struct count_slot *)((uintptr_t)&hooks_head + offset);
}

static inline uint32_t slot_offset(uint32_t index)
{
	return HOOKS_COUNTS_OFFSET + COUNT_HEAD_BYTES + index * COUNT_SLOT_BYTES;
}

static inline uint32_t own_key(void)
{
	return ~hooks_own_tid();
}

static inline uint64_t *entry_at(uint32_t place)
{
	return (uint64_t *)(void *)&hooks_private.entries[place % HOOKS_ENTRY_COUNT];
}

static inline uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline bool change(uint64_t *word, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/*
 * Add to a counter with a single instruction, so that a signal handler cannot interrupt
 * the addition.
 */
static inline void add(uint64_t *counter, uint64_t by)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
}

/*
 * Return the number of requested bytes to count. Return 0 for a request above PTRDIFF_MAX
 * bytes, which every allocator refuses.
 */
static inline uint64_t requested_or_0(uint64_t bytes)
{
	return likely(bytes <= PTRDIFF_MAX) ? bytes : 0;
}

static inline uint64_t *counter_of(struct count_slot *slot, enum count_function function)
{
	if (function == COUNT_MALLOC)
		return &slot->malloc_calls;
	return function == COUNT_FREE ? &slot->free_calls : &slot->calls[function];
}

/* Return true if the thread of the table entry has ended. */
static bool has_ended(uint64_t entry)
{
	return (uint32_t)entry != 0 &&
	       ask_has_ended(slot_at((uint32_t)(entry >> 32))->self, ~(uint32_t)entry);
}

/* Add the counts of a slot to slot 0. Several threads may do this at the same time. */
static void fold(struct count_slot *slot)
{
	struct count_head *head = counts_head();
	uint64_t *from = &slot->malloc_calls,
		 *to = &slot_at(slot_offset(0))->malloc_calls;

	__atomic_fetch_add(&head->fold_begin_count, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0;
	     i < offsetof(struct count_slot, flush_count) / sizeof(uint64_t); i++)
		__atomic_fetch_add(&to[i],
				   __atomic_exchange_n(&from[i], 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->folded_thread_count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->fold_end_count, 1, __ATOMIC_SEQ_CST);
}

/*
 * Search `looks` entries of the thread table, starting at index `place`, for a thread
 * that has ended, and take over its slot. Return the slot's offset, or 0 if there is
 * none.
 */
static uint32_t reuse_ended(uint32_t place, uint32_t looks)
{
	for (uint32_t i = 0; i < looks; i++) {
		uint64_t *entry = entry_at(place + i);
		uint64_t found = load(entry);

		if (!has_ended(found) || !change(entry, found, TOMB))
			continue;
		fold(slot_at((uint32_t)(found >> 32)));
		return (uint32_t)(found >> 32);
	}
	return 0;
}

static uint32_t allocate_new(uint32_t limit)
{
	uint32_t *count = &counts_head()->slot_count;
	uint32_t index = __atomic_load_n(count, __ATOMIC_RELAXED);

	do
		if (index >= limit)
			return 0;
	while (!__atomic_compare_exchange_n(count, &index, index + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return slot_offset(index);
}

static bool has_room(uint32_t key)
{
	for (uint32_t i = 0; i < WINDOW; i++)
		if ((uint32_t)load(entry_at(key + i)) == 0)
			return true;
	return false;
}

static uint32_t allocate_slot(uint32_t key)
{
	uint32_t offset;

	if (!has_room(key))
		return reuse_ended(key, WINDOW);
	offset = allocate_new(COUNT_SLOTS_KEPT);
	if (!offset)
		offset = reuse_ended(__atomic_fetch_add(&hooks_private.cursor,
							ENDED_LOOKS, __ATOMIC_RELAXED),
				     ENDED_LOOKS);
	return offset ? offset : allocate_new(HOOKS_SLOT_COUNT);
}

static void fill_slot(struct count_slot *slot, uint32_t tid)
{
	slot->is_main = tid == hooks_private.own_pid;
	slot->self = ask_own_self();
	/*
	 * leave the thread's name empty; memstate sets the name, because a seccomp filter
	 * may not allow the hooks to query it
	 */
	for (int i = 0; i < COUNT_NAME_BYTES; i++)
		*(volatile char *)&slot->name[i] = '\0';
	__atomic_store_n(&slot->tid, (int32_t)tid, __ATOMIC_RELEASE);
}

/*
 * Store a slot in the thread table under the thread's key. Return false if all entries
 * for this key are in use.
 */
static bool publish(uint32_t key, uint32_t offset)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		uint64_t *entry = entry_at(key + i);
		uint64_t found = load(entry);

		if ((uint32_t)found == 0 &&
		    change(entry, found, (uint64_t)offset << 32 | key))
			return true;
	}
	return false;
}

static uint32_t find(uint32_t key)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		uint64_t found = load(entry_at(key + i));

		if ((uint32_t)found == key)
			return (uint32_t)(found >> 32);
		if (found == 0)
			break;
	}
	return 0;
}

/*
 * Return the offset of a slot for a thread of a forked child process. No process reads
 * these slots, because child processes are not counted.
 */
static uint32_t find_unowned(uint32_t key)
{
	uint32_t offset = HOOKS_PRIVATE_OFFSET +
			  (uint32_t)offsetof(struct hooks_private, nobody) +
			  key % HOOKS_UNOWNED_COUNT * COUNT_SLOT_BYTES;

	(void)publish(key, offset);
	return offset;
}

/*
 * Return the offset of the thread's slot, allocating a slot if needed. Return 0 if
 * no slot is free.
 */
static uint32_t find_or_allocate(uint32_t key)
{
	uint32_t offset = find(key);

	if (offset)
		return offset;
	if (!__atomic_load_n(&hooks_private.own_pid, __ATOMIC_RELAXED))
		return find_unowned(key);
	/* a key is an inverted tid: UINT32_MAX is tid 0, which no thread has */
	offset = key == UINT32_MAX ? 0 : allocate_slot(key);
	if (!offset)
		return 0;
	fill_slot(slot_at(offset), ~key);
	/* if the thread table is full, the slot remains allocated but unused */
	return publish(key, offset) ? offset : 0;
}

/*
 * Count a call on the slow path: the thread has no slot, or its slot is not in the first
 * table entry for its key. A thread's first calls take this path; later calls rarely do.
 * Return the thread's slot. If the thread cannot have one, count the call in slot 0, and
 * return NULL. is_null is true for a free of NULL.
 */
static COLD struct count_slot *count_slowly(enum count_function function, uint64_t bytes,
					    bool is_null)
{
	struct count_head *head = counts_head();
	uint32_t offset = find_or_allocate(own_key());
	struct count_slot *slot;
	uint64_t none = 0;

	if (offset) {
		slot = slot_at(offset);
		add(counter_of(slot, function), 1);
		add(&slot->requested_bytes, bytes);
		if (is_null)
			add(&slot->free_null_count, 1);
		return slot;
	}
	slot = slot_at(slot_offset(0));
	__atomic_compare_exchange_n(&head->folded_thread_count, &none, 1, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_fetch_add(counter_of(slot, function), 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->requested_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->free_null_count, is_null, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Subtract the bytes of a call from pending_bytes, the number of bytes until the next
 * call stack is recorded. Return true if a stack must be recorded now.
 */
static inline bool is_due(struct count_slot *slot, uint64_t bytes)
{
	/* cannot overflow: bytes is at most PTRDIFF_MAX, pending_bytes at least 0 */
	slot->pending_bytes -= (int64_t)bytes;
	slot->pending_bytes--;
	return unlikely(slot->pending_bytes < 0);
}

/*
 * Record a call stack. The registers of its innermost frame are passed by value. A hook
 * that passed the address of a local variable could not end in a tail call, so the
 * original function would return to the hook.
 */
HOOK COLD void take_stack(struct count_slot *slot, uint64_t bytes, uint64_t pc,
			  uint64_t sp, uint64_t rbp);
COLD void take_stack(struct count_slot *slot, uint64_t bytes, uint64_t pc, uint64_t sp,
		     uint64_t rbp)
{
	const struct unwind_state start = { pc, sp, rbp };
	bool is_counted = (uintptr_t)slot - (uintptr_t)hooks_counts < HOOKS_COUNTS_BYTES;
	uint64_t offset = (uintptr_t)slot - (uintptr_t)hooks_counts - COUNT_HEAD_BYTES;

	if (is_counted && hooks_private.takes_stacks)
		slot->pending_bytes = hooks_record_stack(
			(uint32_t)(offset / COUNT_SLOT_BYTES), bytes, &start);
	else
		slot->pending_bytes = INT64_MAX;
}

/*
 * The pc, sp and rbp of the function that called the hook. The hook jumps to the code
 * that uses this macro, so both have the same return address.
 */
#define START                                                         \
	(uint64_t)(uintptr_t) __builtin_return_address(0),            \
		(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16, \
		*(const uint64_t *)__builtin_frame_address(0)

/*
 * Return the thread's slot if it is in the first table entry for the thread's key,
 * otherwise NULL.
 */
static inline struct count_slot *own_slot(void)
{
	uint32_t key = own_key();
	uint64_t entry = load(entry_at(key));

	return likely((uint32_t)entry == key) ? slot_at((uint32_t)(entry >> 32)) : NULL;
}

/*
 * Type of the original functions. Every hook passes on three arguments in registers. A
 * function with fewer parameters ignores the others.
 */
typedef uintptr_t function_fn(uintptr_t first, uintptr_t second, uintptr_t third);

static inline function_fn *original(enum hook hook)
{
	return (function_fn *)hooks_head.originals[hook];
}

/*
 * Define the hook for a function. `bytes` is the number of bytes, as an expression in the
 * arguments a, b and c; `next` is the call to the original function.
 */
#define MAKE_HOOK(symbol, function, bytes, next)                                   \
	HOOK uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c);       \
	static COLD uintptr_t slow_##symbol(uintptr_t a, uintptr_t b, uintptr_t c) \
	{                                                                          \
		struct count_slot *slot =                                          \
			count_slowly(function, bytes, !IS_MAKING(function) && !a); \
                                                                                   \
		if (slot && IS_MAKING(function) && is_due(slot, bytes))            \
			take_stack(slot, bytes, START);                            \
		return next;                                                       \
	}                                                                          \
	static COLD uintptr_t due_##symbol(uintptr_t a, uintptr_t b, uintptr_t c)  \
	{                                                                          \
		take_stack(own_slot(), bytes, START);                              \
		return next;                                                       \
	}                                                                          \
	uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c)             \
	{                                                                          \
		struct count_slot *slot = own_slot();                              \
                                                                                   \
		if (unlikely(!slot))                                               \
			return slow_##symbol(a, b, c);                             \
		add(counter_of(slot, function), 1);                                \
		if (IS_MAKING(function)) {                                         \
			add(&slot->requested_bytes, bytes);                        \
			if (is_due(slot, bytes))                                   \
				return due_##symbol(a, b, c);                      \
		} else if (unlikely(!a)) {                                         \
			add(&slot->free_null_count, 1);                            \
		}                                                                  \
		return next;                                                       \
	}

#define IS_MAKING(function) ((function) != COUNT_FREE && (function) != COUNT_DELETE)

static inline uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t bytes;

	return likely(!__builtin_mul_overflow(a, b, &bytes)) ? requested_or_0(bytes) : 0;
}

#define OWN(symbol) original(HOOK_##symbol)(a, b, c)
#define FIRST(symbol, function) \
	MAKE_HOOK(symbol, function, requested_or_0(a), OWN(symbol))
#define SECOND(symbol, function) \
	MAKE_HOOK(symbol, function, requested_or_0(b), OWN(symbol))
#define NONE(symbol, function) MAKE_HOOK(symbol, function, 0, OWN(symbol))

/*
 * Call realloc instead of reallocarray, because glibc's reallocarray calls realloc by
 * name. The call would then be counted twice.
 */
static inline uintptr_t resize(uintptr_t a, uintptr_t b, uintptr_t c)
{
	uint64_t bytes;

	if (unlikely(__builtin_mul_overflow(b, c, &bytes)))
		return original(HOOK_reallocarray)(a, b, c);
	return original(HOOK_realloc)(a, bytes, 0);
}

FIRST(malloc, COUNT_MALLOC)
NONE(free, COUNT_FREE)
MAKE_HOOK(calloc, COUNT_CALLOC, product(a, b), OWN(calloc))
SECOND(realloc, COUNT_REALLOC)
MAKE_HOOK(reallocarray, COUNT_REALLOCARRAY, product(b, c), resize(a, b, c))
MAKE_HOOK(posix_memalign, COUNT_POSIX_MEMALIGN, requested_or_0(c), OWN(posix_memalign))
SECOND(aligned_alloc, COUNT_ALIGNED_ALLOC)
SECOND(memalign, COUNT_MEMALIGN)
FIRST(valloc, COUNT_VALLOC)
FIRST(pvalloc, COUNT_PVALLOC)
HOOKS_NEW(FIRST)
HOOKS_DELETE(NONE)

/* `caller` points to the return address of the hook on the stack. */
#define EXTRA_WORDS \
	uintptr_t a, uintptr_t b, uintptr_t c, const uint64_t *caller, uint64_t rbp

#define MAKE_EXTRA_BODY(function, size, bytes)                                     \
	HOOK void count_##function##_##size(EXTRA_WORDS);                          \
	static COLD void slow_##function##_##size(EXTRA_WORDS)                     \
	{                                                                          \
		struct count_slot *slot =                                          \
			count_slowly(function, bytes, !IS_MAKING(function) && !a); \
                                                                                   \
		(void)b;                                                           \
		(void)c;                                                           \
		if (slot && IS_MAKING(function) && is_due(slot, bytes))            \
			keep_and_take_stack(slot, bytes, *caller,                  \
					    (uintptr_t)(caller + 1), rbp);         \
	}                                                                          \
	void count_##function##_##size(EXTRA_WORDS)                                \
	{                                                                          \
		struct count_slot *slot = own_slot();                              \
                                                                                   \
		if (unlikely(!slot)) {                                             \
			slow_##function##_##size(a, b, c, caller, rbp);            \
			return;                                                    \
		}                                                                  \
		add(counter_of(slot, function), 1);                                \
		if (IS_MAKING(function)) {                                         \
			add(&slot->requested_bytes, bytes);                        \
			if (is_due(slot, bytes))                                   \
				keep_and_take_stack(slot, bytes, *caller,          \
						    (uintptr_t)(caller + 1), rbp); \
		} else if (unlikely(!a)) {                                         \
			add(&slot->free_null_count, 1);                            \
		}                                                                  \
	}                                                                          \
	HOOKS_KEEP(function, size)

MAKE_EXTRA_BODY(COUNT_MALLOC, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_FREE, NONE, 0)
MAKE_EXTRA_BODY(COUNT_CALLOC, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_CALLOC, PRODUCT, product(a, b))
MAKE_EXTRA_BODY(COUNT_REALLOC, SECOND, requested_or_0(b))
MAKE_EXTRA_BODY(COUNT_REALLOCARRAY, LAST_PRODUCT, product(b, c))
MAKE_EXTRA_BODY(COUNT_POSIX_MEMALIGN, THIRD, requested_or_0(c))
MAKE_EXTRA_BODY(COUNT_ALIGNED_ALLOC, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_ALIGNED_ALLOC, SECOND, requested_or_0(b))
MAKE_EXTRA_BODY(COUNT_MEMALIGN, SECOND, requested_or_0(b))
MAKE_EXTRA_BODY(COUNT_VALLOC, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_PVALLOC, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_NEW, FIRST, requested_or_0(a))
MAKE_EXTRA_BODY(COUNT_DELETE, NONE, 0)
COUNT_EXTRA(HOOKS_EXTRA_ENTRY)
