/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry - count calls to allocators' additional entry points (extra.h) as calls to the
 * corresponding standard functions.
 *
 * When an allocator calls one of its own functions through its import table, the call may
 * reach a counted entry point. Such a call is not counted: its return address is in the
 * allocator or, after a tail call by the allocator, in this library.
 */
#include "config.h"

#include "agent/count/entry.h"

#include "agent/count/inside.h"
#include "agent/count/stacks.h"

/*
 * The first byte of this library, and the first byte after its end. The linker defines
 * both symbols.
 */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_allocators_call(const struct count_entry *entry, uint64_t pc)
{
	return pc - entry->start < entry->end - entry->start ||
	       pc - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

static uint64_t product(uintptr_t a, uintptr_t b)
{
	uint64_t bytes;

	return __builtin_mul_overflow(a, b, &bytes) ? UINT64_MAX : bytes;
}

static uint64_t size_of(const struct count_entry *entry, const uintptr_t arguments[4])
{
	switch (entry->size) {
	case COUNT_ENTRY_FIRST: return arguments[0];
	case COUNT_ENTRY_SECOND: return arguments[1];
	case COUNT_ENTRY_THIRD: return arguments[2];
	case COUNT_ENTRY_PRODUCT: return product(arguments[0], arguments[1]);
	case COUNT_ENTRY_LAST_PRODUCT: return product(arguments[1], arguments[2]);
	case COUNT_ENTRY_NONE: break;
	}
	return 0;
}

static uintptr_t pass_on(const struct count_entry *entry, const uintptr_t arguments[4])
{
	uintptr_t ret =
		entry->next(arguments[0], arguments[1], arguments[2], arguments[3]);

	/*
	 * Prevent a tail call to `next`, so that the return address of `next`, and of
	 * functions that `next` calls in a tail call, is in this library. The return
	 * address identifies calls that the allocator makes to itself.
	 */
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static int64_t usable_bytes(const struct count_entry *entry, const void *p)
{
	return COUNT_HAS_LIVE && p && entry->usable ? (int64_t)entry->usable(p, 0) : 0;
}

static uint64_t *counter_of(struct count_slot *slot, enum count_function function)
{
	if (function == COUNT_MALLOC)
		return &slot->malloc_calls;
	return function == COUNT_FREE ? &slot->free_calls : &slot->calls[function];
}

/*
 * Like count_allocated(), but query the allocator of this entry point for the size of
 * block p. If p is NULL, the call failed.
 */
static void count_result(const struct count_entry *entry,
			 const struct count_entry_call *call, void *p, uint64_t bytes)
{
	struct count_slot *slot = count_own.slot;

	if (COUNT_HAS_LIVE && !p)
		(void)count_allocated_slow(NULL);
	if (!COUNT_HAS_LIVE || !p)
		return;
	slot->last_addr = (uint64_t)(uintptr_t)p;
	count_add_signed(&slot->pending_bytes, usable_bytes(entry, p));
	if (slot->pending_bytes > COUNT_FLUSH_BYTES)
		count_slot_flush(NULL);
#if COUNT_HAS_STACKS
	struct unwind_state start = { call->pc, call->sp, call->rbp };

	/*
	 * For sampling, each call counts as one byte more than it requests. The counter
	 * malloc_calls already provides this byte for calls to malloc.
	 */
	if (entry->function != COUNT_MALLOC)
		count_stack_other_call(slot);
	if (count_stack_is_due(slot))
		count_stack_record(p, bytes, &start);
#else
	(void)call;
	(void)bytes;
#endif
}

static uintptr_t make(const struct count_entry *entry,
		      const struct count_entry_call *call, struct count_slot *slot)
{
	uint64_t bytes = size_of(entry, call->arguments);
	bool may_throw = entry->function == COUNT_NEW;
	uintptr_t ret;

	count_add(counter_of(slot, entry->function), 1);
	/*
	 * count the call as failed until the function returns, because it may throw an
	 * exception
	 */
	if (may_throw && COUNT_HAS_LIVE)
		count_add(&slot->failed_count, 1);
	else
		count_requested(slot, bytes);
	ret = pass_on(entry, call->arguments);
	if (may_throw && COUNT_HAS_LIVE) {
		count_add(&slot->failed_count, (uint64_t)-1);
		count_requested(slot, bytes);
	}
	if (entry->function != COUNT_POSIX_MEMALIGN)
		count_result(entry, call, (void *)ret, bytes);
	else
		count_result(entry, call,
			     (int)ret == 0 ? *(void **)call->arguments[0] : NULL, bytes);
	return ret;
}

/*
 * Return true for xallocx(), which never moves a block and returns the block's new size
 * instead of a pointer.
 */
static bool resizes_in_place(const struct count_entry *entry)
{
	const char *name = entry->name;

	while (*name && *name != 'x')
		name++;
	return *name == 'x' && name[1] == 'a';
}

static uintptr_t resize(const struct count_entry *entry,
			const struct count_entry_call *call, struct count_slot *slot)
{
	uint64_t bytes = size_of(entry, call->arguments);
	void *p = (void *)call->arguments[0], *given;
	struct count_resize old = count_resize_begin(slot, p, usable_bytes(entry, p));
	uintptr_t ret;

	count_add(counter_of(slot, entry->function), 1);
	count_requested(slot, bytes);
	ret = pass_on(entry, call->arguments);
	if (!COUNT_HAS_LIVE)
		return ret;
	given = resizes_in_place(entry) ? p : (void *)ret;
	if (count_resize_end(slot, &old, given, bytes))
		count_result(entry, call, given, bytes);
	return ret;
}

static uintptr_t drop(const struct count_entry *entry,
		      const struct count_entry_call *call, struct count_slot *slot)
{
	void *p = (void *)call->arguments[0];

	count_add(counter_of(slot, entry->function), 1);
	if (!p) {
		count_add(&slot->free_null_count, 1);
	} else if (COUNT_HAS_LIVE) {
		count_stack_freed(slot, p);
		if (count_freed(slot, (uintptr_t)p, usable_bytes(entry, p)))
			count_slot_flush(NULL);
	}
	return pass_on(entry, call->arguments);
}

uintptr_t memstate_count_entry(const struct count_entry *entry,
			       const struct count_entry_call *call)
{
	struct count_slot *slot;

	if (is_allocators_call(entry, call->pc))
		return pass_on(entry, call->arguments);
	slot = count_slot_own();
	if (!slot)
		return pass_on(entry, call->arguments);
	switch (entry->function) {
	case COUNT_FREE:
	case COUNT_DELETE: return drop(entry, call, slot);
	case COUNT_REALLOC:
	case COUNT_REALLOCARRAY: return resize(entry, call, slot);
	default: return make(entry, call, slot);
	}
}
