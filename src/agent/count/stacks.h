/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - record the call stacks of counted calls.
 *
 * A variant of the counting library records stacks in each call, in addition to counting
 * the call. An allocation is recorded after the allocator has returned. The record of a
 * block is removed before the block is freed, because another thread can receive the
 * block as soon as it is free.
 */
#ifndef MS_AGENT_COUNT_STACKS_H
#define MS_AGENT_COUNT_STACKS_H

#include "agent/count/inside.h"

#ifdef COUNT_WITH_STACKS

#	include "agent/count/stack_record.h"

#	define COUNT_HAS_STACKS 1

#	pragma GCC visibility push(hidden)

extern struct stacks count_stacks;

/*
 * Start recording into a stack file next to the counts file at `path`. A forked child
 * process calls count_stack_begin_child() with its new path, and creates its stack file
 * at its first allocation. If `path` is NULL, nothing is recorded.
 */
void count_stack_begin(const char *path);
void count_stack_begin_child(const char *path);

/*
 * Prepare for a seccomp filter that the program is about to install; see
 * count_slot_seal().
 */
void count_stack_seal(enum ask_permission wanted);

/*
 * count_stack_has_plain_malloc() returns true if, to record stacks, malloc need only
 * check whether a sampling point has been reached. count_stack_has_plain_free() returns
 * true if free need only check whether it frees the block allocated last.
 */
bool count_stack_has_plain_malloc(void);
bool count_stack_has_plain_free(void);

void count_stack_record(const void *p, size_t bytes, const struct unwind_state *start);
void count_stack_forget(struct count_slot *slot, const void *p);

/*
 * Call count_stack_before_resize() before realloc. Afterwards pass its result to
 * count_stack_resized() if the block was resized, otherwise to count_stack_not_resized().
 */
uint64_t count_stack_before_resize(const void *p);
void count_stack_resized(struct count_slot *slot, uintptr_t addr, uint64_t block);
void count_stack_not_resized(uintptr_t addr, uint64_t block);

/*
 * count_stack_modules_begin() provides the unwinder and the stack file with the functions
 * that find modules. count_stack_modules_copy() copies the modules of one file to
 * another. count_stack_modules_forget() forgets all modules after code was unloaded.
 */
void count_stack_modules_begin(struct unwind_space *space);
void count_stack_modules_copy(const struct stack_file *from, struct stack_file *to);
void count_stack_modules_forget(void);

#	pragma GCC visibility pop

/*
 * Flag in a slot's last_addr: the call stack of the block allocated last was recorded.
 * The flag is the lowest bit, because blocks start at even addresses.
 */
#	define COUNT_STACK_LAST 1

/*
 * Return the thread's position in its stream of allocations: the requested bytes, plus 1
 * for each call to malloc. stack_at is the position at which the thread records its next
 * call stack, or 0 if this position has not been chosen yet.
 */
static inline uint64_t count_stack_position(const struct count_slot *slot)
{
	return slot->malloc_calls + slot->requested_bytes;
}

/*
 * Return true if the call that was just counted has reached the sampling point stack_at.
 * The call may still fail.
 */
static inline bool count_stack_is_due(const struct count_slot *slot)
{
	return count_unlikely(count_stack_position(slot) >= slot->stack_at);
}

static inline bool count_stack_was_last(const struct count_slot *slot, const void *p)
{
	return count_unlikely(slot->last_addr - (uint64_t)(uintptr_t)p ==
			      COUNT_STACK_LAST);
}

/*
 * Forget the call stack of a block that is about to be freed. Must be called before
 * count_freed().
 */
static inline void count_stack_freed(struct count_slot *slot, const void *p)
{
	if (count_stack_was_last(slot, p) ||
	    (count_stacks.mode.has_live &&
	     stack_may_be_known(&count_stacks, (uintptr_t)p)))
		count_stack_forget(slot, p);
}

/* The pc, sp and rbp of the caller of the function that uses this macro. */
#	define COUNT_STACK_START                                             \
		((struct unwind_state){                                       \
			(uint64_t)(uintptr_t)__builtin_return_address(0),     \
			(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16, \
			*(const uint64_t *)__builtin_frame_address(0) })

/*
 * If the thread has reached its next sampling point, record the call stack of block p,
 * which malloc returned. p may be NULL.
 */
static inline __attribute__((always_inline)) void
count_stack_allocated_by_malloc(const struct count_slot *slot, void *p, size_t bytes)
{
	if (p && count_stack_is_due(slot)) {
		struct unwind_state start = COUNT_STACK_START;

		count_stack_record(p, bytes, &start);
	}
}

/*
 * Count a call to a function other than malloc as one additional byte (see
 * stack_sample.h). The thread's position does not include this byte, because the position
 * is computed from malloc_calls. Instead, move the next sampling point, stack_at, one
 * byte closer.
 */
static inline void count_stack_other_call(struct count_slot *slot)
{
	if (slot->stack_at > 1)
		count_add(&slot->stack_at, (uint64_t)-1);
}

static inline __attribute__((always_inline)) void
count_stack_allocated(struct count_slot *slot, void *p, size_t bytes)
{
	if (p)
		count_stack_other_call(slot);
	count_stack_allocated_by_malloc(slot, p, bytes);
}

#else

#	define COUNT_HAS_STACKS 0

static inline bool count_stack_has_plain_malloc(void)
{
	return true;
}

static inline bool count_stack_has_plain_free(void)
{
	return true;
}

static inline bool count_stack_was_last(const struct count_slot *slot, const void *p)
{
	(void)slot;
	(void)p;
	return false;
}

static inline void count_stack_other_call(struct count_slot *slot)
{
	(void)slot;
}

static inline void count_stack_allocated(const struct count_slot *slot, const void *p,
					 size_t bytes)
{
	(void)slot;
	(void)p;
	(void)bytes;
}

static inline void count_stack_allocated_by_malloc(const struct count_slot *slot,
						   const void *p, size_t bytes)
{
	(void)slot;
	(void)p;
	(void)bytes;
}

static inline void count_stack_freed(const struct count_slot *slot, const void *p)
{
	(void)slot;
	(void)p;
}

static inline uint64_t count_stack_before_resize(const void *p)
{
	(void)p;
	return 0;
}

static inline void count_stack_resized(const struct count_slot *slot, uintptr_t addr,
				       uint64_t block)
{
	(void)slot;
	(void)addr;
	(void)block;
}

static inline void count_stack_not_resized(uintptr_t addr, uint64_t block)
{
	(void)addr;
	(void)block;
}

static inline void count_stack_begin(const char *path)
{
	(void)path;
}

static inline void count_stack_begin_child(const char *path)
{
	(void)path;
}

static inline void count_stack_seal(enum ask_permission wanted)
{
	(void)wanted;
}

#endif

/*
 * The state of a block before a call that resizes the block. addr is 0 for realloc(NULL,
 * …).
 */
struct count_resize {
	uintptr_t addr;
	int64_t usable_bytes;
	uint64_t last_addr, stack_block;
};

/*
 * Save the state of block p for count_resize_end(). Call this function before the block
 * is resized, and before count_requested(), which overwrites last_addr.
 */
static inline struct count_resize count_resize_begin(const struct count_slot *slot,
						     const void *p, int64_t usable_bytes)
{
	return (struct count_resize){ (uintptr_t)p, usable_bytes, slot->last_addr,
				      count_stack_before_resize(p) };
}

/*
 * Count the block as resized, or as freed if `bytes` is 0. `given` is the result of
 * realloc. Return true if the caller must count `given` as an allocated block or, if it
 * is NULL, as a failed call.
 *
 * The old block's size is subtracted before the new one is added, so that pending_bytes
 * never exceeds the bytes in use.
 */
static inline __attribute__((always_inline)) bool
count_resize_end(struct count_slot *slot, const struct count_resize *old,
		 const void *given, uint64_t bytes)
{
	if (old->addr && given)
		count_add(&slot->resized_count, 1);
	else if (old->addr && bytes == 0)
		count_add(&slot->ended_count, 1);
	if (old->addr && (given || bytes == 0)) {
		slot->last_addr = old->last_addr;
		count_stack_resized(slot, old->addr, old->stack_block);
		if (count_freed(slot, old->addr, old->usable_bytes))
			count_slot_flush(NULL);
	} else {
		count_stack_not_resized(old->addr, old->stack_block);
	}
	return given || !old->addr || bytes > 0;
}

#endif
