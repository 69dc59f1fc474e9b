/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hooks of count_hooks.h. Runs in other programs, in any of their threads, and in
 * signal handlers: no libc, no locks, no frame where there is a slot; errno is not
 * touched. A stack is taken before the function is called: it is counted even if that
 * fails.
 */
#include "agent/count_hooks_inside.h"

#include <linux/errno.h>
#include <stdbool.h>

#include "agent/syscalls.h"

#define COLD	    __attribute__((cold, noinline))
#define HOOK	    __attribute__((used, visibility("hidden")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Entries that are looked at for a thread's, from its own place on. */
#define WINDOW 32u
/* Those that are looked at for one whose thread has ended. */
#define ENDED_LOOKS 32u

/* What they have no slot for any more, but is passed over when one is looked for. */
#define TOMB (UINT64_C(1) << 32)

#define OFFSET(symbol, function) ".long hook_" #symbol " - hooks_head\n"

/* hooks_end: see count_hooks.ld. */
__asm__(".section .text.head, \"ax\"\n"
	".globl hooks_head\n"
	".hidden hooks_head\n"
	"hooks_head:\n"
	".zero 256\n"
	".long 0x4843534d, 2\n"
	".long hooks_end - hooks_head\n"
	".long (0f - 1f) / 4\n"
	"1:\n" HOOKS(OFFSET) "0:\n"
	".zero 448 - (0b - hooks_head)\n"
	".previous\n");

extern const struct hooks_head hooks_head __attribute__((visibility("hidden")));
extern char hooks_counts[] __attribute__((visibility("hidden")));

HOOK void *memset(void *to, int byte, size_t length);
HOOK void *memcpy(void *to, const void *from, size_t length);

/* Compilers call these by themselves. */
void *memset(void *to, int byte, size_t length)
{
	for (volatile char *p = to; length > 0; length--)
		*p++ = (char)byte;
	return to;
}

void *memcpy(void *to, const void *from, size_t length)
{
	volatile char *p = to;

	for (const char *q = from; length > 0; length--)
		*p++ = *q++;
	return to;
}

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

/* In one instruction: a signal handler that counts here, too, comes before or after it. */
static inline void add(uint64_t *counter, uint64_t by)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
}

/* No allocator gives more than PTRDIFF_MAX. */
static inline uint64_t given_bytes(uint64_t bytes)
{
	return likely(bytes <= PTRDIFF_MAX) ? bytes : 0;
}

static inline uint64_t *counter_of(struct count_slot *slot, enum count_function function)
{
	if (function == COUNT_MALLOC)
		return &slot->malloc_calls;
	return function == COUNT_FREE ? &slot->free_calls : &slot->calls[function];
}

/* Has the thread that the entry is of ended? */
static bool has_ended(uint64_t entry)
{
	return (uint32_t)entry != 0 &&
	       ask_has_ended(slot_at((uint32_t)(entry >> 32))->self, ~(uint32_t)entry);
}

/* Into slot 0, which several may write at once. */
static void fold(struct count_slot *slot)
{
	struct count_head *head = counts_head();
	uint64_t *from = &slot->malloc_calls, *to = &slot_at(slot_offset(0))->malloc_calls;

	__atomic_fetch_add(&head->fold_begin_count, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < offsetof(struct count_slot, flush_count) / sizeof(uint64_t); i++)
		__atomic_fetch_add(&to[i], __atomic_exchange_n(&from[i], 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->folded_thread_count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->fold_end_count, 1, __ATOMIC_SEQ_CST);
}

/* Of one of `looks` threads from that place on that has ended. Returns 0: none has. */
static uint32_t take_ended(uint32_t place, uint32_t looks)
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

static uint32_t take_new(uint32_t limit)
{
	uint32_t *count = &counts_head()->slot_count;
	uint32_t index = __atomic_load_n(count, __ATOMIC_RELAXED);

	do
		if (index >= limit)
			return 0;
	while (!__atomic_compare_exchange_n(count, &index, index + 1, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	return slot_offset(index);
}

static bool has_room(uint32_t key)
{
	for (uint32_t i = 0; i < WINDOW; i++)
		if ((uint32_t)load(entry_at(key + i)) == 0)
			return true;
	return false;
}

static uint32_t take_slot(uint32_t key)
{
	uint32_t offset;

	if (!has_room(key))
		return take_ended(key, WINDOW);
	offset = take_new(COUNT_SLOTS_KEPT);
	if (!offset)
		offset = take_ended(__atomic_fetch_add(&hooks_private.cursor, ENDED_LOOKS,
						       __ATOMIC_RELAXED),
				    ENDED_LOOKS);
	return offset ? offset : take_new(HOOKS_SLOT_COUNT);
}

static void fill_slot(struct count_slot *slot, uint32_t tid)
{
	slot->is_main = tid == hooks_private.own_pid;
	slot->self = ask_own_self();
	/* memstate reads its name: to ask for it may be forbidden */
	for (int i = 0; i < COUNT_NAME_BYTES; i++)
		*(volatile char *)&slot->name[i] = '\0';
	__atomic_store_n(&slot->tid, (int32_t)tid, __ATOMIC_RELEASE);
}

/* A slot that was taken, to be found by this key. */
static bool publish(uint32_t key, uint32_t offset)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		uint64_t *entry = entry_at(key + i);
		uint64_t found = load(entry);

		if ((uint32_t)found == 0 && change(entry, found, (uint64_t)offset << 32 | key))
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

/* A child is not counted: its threads count where nobody looks. */
static uint32_t find_nobody(uint32_t key)
{
	uint32_t offset = HOOKS_PRIVATE_OFFSET +
			  (uint32_t)offsetof(struct hooks_private, nobody) +
			  key % HOOKS_NOBODY_COUNT * COUNT_SLOT_BYTES;

	(void)publish(key, offset);
	return offset;
}

/* 0: there is no room for it. */
static uint32_t find_or_take(uint32_t key)
{
	uint32_t offset = find(key);

	if (offset)
		return offset;
	if (!__atomic_load_n(&hooks_private.own_pid, __ATOMIC_RELAXED))
		return find_nobody(key);
	/* no thread of libc's has the number 0 */
	offset = key == UINT32_MAX ? 0 : take_slot(key);
	if (!offset)
		return 0;
	fill_slot(slot_at(offset), ~key);
	/* what was taken for nothing is in the list of threads, with no call */
	return publish(key, offset) ? offset : 0;
}

/*
 * For a thread that is not at its place, or at none: the first calls, and few later ones.
 * Returns its slot, or NULL. is_null: a free of NULL.
 */
static COLD struct count_slot *count_slowly(enum count_function function, uint64_t bytes,
					    bool is_null)
{
	struct count_head *head = counts_head();
	uint32_t offset = find_or_take(own_key());
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
	__atomic_compare_exchange_n(&head->folded_thread_count, &none, 1, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	__atomic_fetch_add(counter_of(slot, function), 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->requested_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->free_null_count, is_null, __ATOMIC_RELAXED);
	return NULL;
}

/* pending_bytes: until the next stack is to be taken. */
static inline bool is_due(struct count_slot *slot, uint64_t bytes)
{
	/* at most PTRDIFF_MAX, of 0 at least */
	slot->pending_bytes -= (int64_t)bytes;
	slot->pending_bytes--;
	return unlikely(slot->pending_bytes < 0);
}

/*
 * By value, as no hook may have a frame that something else knows of: it could not jump on
 * then, and would be returned to.
 */
static COLD void take_stack(struct count_slot *slot, uint64_t bytes, uint64_t pc, uint64_t sp,
			    uint64_t rbp)
{
	const struct unwind_state start = { pc, sp, rbp };
	bool is_counted = (uintptr_t)slot - (uintptr_t)hooks_counts < HOOKS_COUNTS_BYTES;
	uint64_t offset = (uintptr_t)slot - (uintptr_t)hooks_counts - COUNT_HEAD_BYTES;

	if (is_counted && hooks_private.takes_stacks)
		slot->pending_bytes = hooks_take_stack((uint32_t)(offset / COUNT_SLOT_BYTES), bytes,
						       &start);
	else
		slot->pending_bytes = INT64_MAX;
}

/* Who called the function that this is in, which the hook has jumped to: pc, sp and rbp. */
#define START                                                         \
	(uint64_t)(uintptr_t)__builtin_return_address(0),             \
		(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16, \
		*(const uint64_t *)__builtin_frame_address(0)

/* The thread's slot, if it is at its place; else NULL. */
static inline struct count_slot *own_slot(void)
{
	uint32_t key = own_key();
	uint64_t entry = load(entry_at(key));

	return likely((uint32_t)entry == key) ? slot_at((uint32_t)(entry >> 32)) : NULL;
}

/*
 * All take and pass on three words: these are in registers, and who takes fewer does not
 * look. What is returned is not looked at either.
 */
typedef uintptr_t function_fn(uintptr_t first, uintptr_t second, uintptr_t third);

static inline function_fn *original(enum hook hook)
{
	return (function_fn *)hooks_head.originals[hook];
}

/* bytes: of the words a, b and c. next: what it goes on to. */
#define MAKE_HOOK(symbol, function, bytes, next)                                            \
	HOOK uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c);                \
	static COLD uintptr_t slow_##symbol(uintptr_t a, uintptr_t b, uintptr_t c)          \
	{                                                                                   \
		struct count_slot *slot =                                                   \
			count_slowly(function, bytes, !IS_MAKING(function) && !a);           \
											    \
		if (slot && IS_MAKING(function) && is_due(slot, bytes))                     \
			take_stack(slot, bytes, START);                                    \
		return next;                                                                \
	}                                                                                   \
	static COLD uintptr_t due_##symbol(uintptr_t a, uintptr_t b, uintptr_t c)           \
	{                                                                                   \
		take_stack(own_slot(), bytes, START);                                      \
		return next;                                                                \
	}                                                                                   \
	uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c)                      \
	{                                                                                   \
		struct count_slot *slot = own_slot();                                       \
											    \
		if (unlikely(!slot))                                                        \
			return slow_##symbol(a, b, c);                                      \
		add(counter_of(slot, function), 1);                                         \
		if (IS_MAKING(function)) {                                                  \
			add(&slot->requested_bytes, bytes);                                 \
			if (is_due(slot, bytes))                                            \
				return due_##symbol(a, b, c);                               \
		} else if (unlikely(!a)) {                                                  \
			add(&slot->free_null_count, 1);                                     \
		}                                                                           \
		return next;                                                                \
	}

#define IS_MAKING(function) ((function) != COUNT_FREE && (function) != COUNT_DELETE)

static inline uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t bytes;

	return likely(!__builtin_mul_overflow(a, b, &bytes)) ? given_bytes(bytes) : 0;
}

#define OWN(symbol) original(HOOK_##symbol)(a, b, c)
#define FIRST(symbol, function)	 MAKE_HOOK(symbol, function, given_bytes(a), OWN(symbol))
#define SECOND(symbol, function) MAKE_HOOK(symbol, function, given_bytes(b), OWN(symbol))
#define NONE(symbol, function)	 MAKE_HOOK(symbol, function, 0, OWN(symbol))

/* glibc's calls realloc by that name, which would be counted once more. */
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
MAKE_HOOK(posix_memalign, COUNT_POSIX_MEMALIGN, given_bytes(c), OWN(posix_memalign))
SECOND(aligned_alloc, COUNT_ALIGNED_ALLOC)
SECOND(memalign, COUNT_MEMALIGN)
FIRST(valloc, COUNT_VALLOC)
FIRST(pvalloc, COUNT_PVALLOC)
HOOKS_NEW(FIRST)
HOOKS_DELETE(NONE)
