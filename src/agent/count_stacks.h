/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_stacks - where the calls come from: what the library that records stacks does in
 * each of them, beside counting it.
 *
 * An allocation is recorded after it was made, a block is forgotten before it is given
 * back: in between nobody else can be given the same.
 */
#ifndef MS_AGENT_COUNT_STACKS_H
#define MS_AGENT_COUNT_STACKS_H

#include "agent/count_inside.h"

#ifdef COUNT_WITH_STACKS

#include "agent/stack_record.h"

#define COUNT_HAS_STACKS 1

#pragma GCC visibility push(hidden)

extern struct stacks count_stacks;

struct count_stack_own {
	int64_t left; /* bytes until an allocation is recorded; below 0: each is */
	const void *last_block; /* what was recorded last, if it was not freed since */
	struct count_stack_thread *thread; /* NULL: has none yet */
	bool has_begun; /* left was drawn */
	bool leaves_fork; /* and makes the child's file just now */
};
extern __thread struct count_stack_own count_stack_own __attribute__((tls_model("initial-exec")));

/*
 * Begin, beside the file at this path; in a forked child, with the new path, at its first
 * allocation. NULL: it has none.
 */
void count_stack_begin(const char *path);
void count_stack_begin_child(const char *path);

void count_stack_record(const void *p, size_t bytes, const struct unwind_state *start);
void count_stack_forget(const struct count_slot *slot, const void *p);

/* Before realloc: what is handed to one of the two below afterwards. */
uint64_t count_stack_before_resize(const void *p);
void count_stack_resized(const struct count_slot *slot, uintptr_t addr, uint64_t block);
void count_stack_not_resized(uintptr_t addr, uint64_t block);

/* Where code is: said to the unwinder and to the file. Of another file, or of what is gone. */
void count_stack_modules_begin(struct unwind_space *space);
void count_stack_modules_copy(const struct stack_file *from, struct stack_file *to);
void count_stack_modules_forget(void);

#pragma GCC visibility pop

/* More than there are addresses, which nobody gives, and left has no room for. */
#define COUNT_STACK_TOO_MUCH_BITS 47

/* Before the call or after it. */
static inline bool count_stack_is_due(size_t bytes)
{
	if (count_unlikely(bytes >> COUNT_STACK_TOO_MUCH_BITS))
		return false;
	count_stack_own.left -= (int64_t)bytes + 1;
	return count_unlikely(count_stack_own.left < 0);
}

/* The call gave nothing. */
static inline void count_stack_not_given(size_t bytes)
{
	count_stack_own.left += (int64_t)bytes + 1;
}

/* A block is about to be given back; before count_taken(). */
static inline void count_stack_taken(const struct count_slot *slot, const void *p)
{
	if (count_stacks.mode.has_live ? stack_may_be_known(&count_stacks, (uintptr_t)p) :
					 p == count_stack_own.last_block)
		count_stack_forget(slot, p);
}

/* Who called the function that this is in. */
#define COUNT_STACK_START                                                                  \
	((struct unwind_state){ (uint64_t)(uintptr_t)__builtin_return_address(0),          \
				(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,      \
				*(const uint64_t *)__builtin_frame_address(0) })

/* The call gave p, which may be NULL. */
static inline __attribute__((always_inline)) void count_stack_given(void *p, size_t bytes)
{
	if (p && count_stack_is_due(bytes)) {
		struct unwind_state start = COUNT_STACK_START;

		count_stack_record(p, bytes, &start);
	}
}

#else

#define COUNT_HAS_STACKS 0

static inline bool count_stack_is_due(size_t bytes)
{
	(void)bytes;
	return false;
}

static inline void count_stack_given(const void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}

static inline void count_stack_taken(const struct count_slot *slot, const void *p)
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

#endif
#endif
