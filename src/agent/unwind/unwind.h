/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind - find the call stack with .eh_frame, so that no frame pointers are needed.
 * Unwinding is fast because most of a stack is the same as in the last walk. Code
 * without tables, such as that of a JIT compiler, is unwound by its frame pointer.
 *
 * Frames of the previous stack are reused after a check: the new walk must reach a frame
 * with the same address, stack pointer and frame pointer, and each return address and
 * saved frame pointer further out in memory must be unchanged. The check reads two words
 * per frame, and no table. No libc, no memory of its own, no locks. Unmapped memory is
 * never read: the unwinder knows the bounds of the thread's own stack, and elsewhere
 * asks the kernel first.
 */
#ifndef MS_AGENT_UNWIND_UNWIND_H
#define MS_AGENT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/system/ask.h"
#include "agent/unwind/cfi.h"

/*
 * Size of the range below the top of the main stack in which only this stack can be. It
 * is less than the 128 MiB or more that mmap(2) leaves free for the stack.
 */
#define UNWIND_SURE_BYTES (UINT64_C(64) << 20)

/*
 * If a stack has more than UNWIND_DEPTH_MAX frames, only its UNWIND_DEEP_KEPT innermost
 * frames are kept, and the stack is marked as cut.
 */
#define UNWIND_DEPTH_MAX 2048
#define UNWIND_DEEP_KEPT 128

/*
 * Number of elements in the cache of unwind rows. Each element contains an address and
 * its row of unwind rules in 8 bytes, or 0 if empty. All elements that an address may use
 * are in one cache line.
 */
#define UNWIND_ROW_COUNT (1 << 15)

/* Number of elements in the cache of return addresses; a power of 2. */
#define UNWIND_RETURN_COUNT (1 << 12)

struct unwind_row {
	uint64_t row; /* an address and its unwind rules, see row.h */
};

/* Unwinding state of a process, shared by its threads. */
struct unwind_space {
#ifndef AGENT_BLOB
	/*
	 * Find the module with the code at pc. Return false if no module contains pc.
	 * Called only for addresses that are not in the cache.
	 */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *ret);
#endif
	void *context;
	struct unwind_row *rows; /* array of UNWIND_ROW_COUNT elements */
	enum ask_permission permission;
	/*
	 * Array of UNWIND_RETURN_COUNT addresses known to follow a call instruction,
	 * or NULL.
	 */
	uint64_t *returns;
	uint32_t generation; /* number of calls to unwind_forget() that have started */
	uint32_t forgotten;  /* number of calls to unwind_forget() that have finished */
};

#ifdef AGENT_BLOB
/*
 * The hooks use this function instead of space->find: their space is in memory that the
 * process can write, so it must not contain addresses of code.
 */
bool unwind_find_module(void *context, uint64_t pc, struct unwind_module *ret);
#endif

static inline bool unwind_find(const struct unwind_space *space, uint64_t pc,
			       struct unwind_module *ret)
{
#ifdef AGENT_BLOB
	return unwind_find_module(space->context, pc, ret);
#else
	return space->find(space->context, pc, ret);
#endif
}

/*
 * The registers of a calling function. pc is the return address into the function, and
 * cfa is its stack pointer after the return. The function's rbp was saved at cfa +
 * rbp_delta; if rbp_delta is 0, rbp was not saved. cfa and rbp_delta are multiples of 8
 * and have flags in the low bits. The flags in cfa select what to compare besides the
 * return address. Most frames need no flag, because most code does not derive its CFA
 * from rbp.
 */
struct unwind_frame {
	uint64_t cfa, pc, rbp;
	int32_t rbp_delta;
	/*
	 * set by the user of this module: the number of the node for the stack from this
	 * frame outwards
	 */
	uint32_t node;
	/*
	 * Address of the return address on the stack, which equals pc if the stack is
	 * unchanged. If cfa has flags, this is the address of a word that never equals
	 * pc, so that the flags are examined.
	 */
	const uint64_t *compared;
};

enum unwind_frame_flag {
	/* flag in cfa: rsp and rbp were not sufficient to find the frame */
	UNWIND_BY_RULES = 1 << 0,
	/* flag in cfa: rbp was saved, and a frame further out needs it */
	UNWIND_SAVED_RBP = 1 << 1,
	/*
	 * flag in cfa: like UNWIND_SAVED_RBP, and rbp was saved next to
	 * the return address
	 */
	UNWIND_PAIR = 1 << 2,
	UNWIND_FLAGS = 7,
	/* flag in rbp_delta: rbp is needed to find this frame's caller */
	UNWIND_USES_RBP = 1 << 0,
	/* flag in rbp_delta: this frame or one further out uses rbp */
	UNWIND_NEEDS_RBP = 1 << 1,
	/*
	 * flag in rbp_delta: there was no unwind table, and the caller was found
	 * through the frame pointer
	 */
	UNWIND_BY_FRAME = 1 << 2,
};

/*
 * Unwinding state of a thread. All 0 before the first use, except
 * stack_end and sure_start.
 */
struct unwind_thread {
	/*
	 * highest address of the thread's own stack, or 0 if unknown, so that each
	 * page must be checked
	 */
	uint64_t stack_end;
	/* the stack is mapped at least from this address to stack_end */
	uint64_t stack_start;
	uint64_t hole; /* an unmapped page below the known range of the stack */
	/*
	 * From this address to stack_end the kernel maps nothing except the main stack,
	 * so code whose stack pointer is in this range can read everything up to
	 * stack_end. 0 for threads other than the main thread.
	 */
	uint64_t sure_start;
	uint32_t generation;
	/*
	 * number of frames of the last stack that are kept for reuse,
	 * without the sentinel
	 */
	uint32_t kept_count;
	/*
	 * number of frames in fresh, which the last walk found; the first
	 * one is the innermost
	 */
	uint32_t fresh_count;
	/* the callers of the outermost frame in fresh could not be determined */
	bool is_cut;
	/* fresh contains the whole stack, and must not be reused in the next walk */
	bool is_passing;
	/*
	 * The stack that was found last, kept for reuse. kept[0] is a sentinel that
	 * matches no frame; the frames follow, outermost first.
	 */
	struct unwind_frame kept[1 + UNWIND_DEPTH_MAX];
	struct unwind_frame fresh[UNWIND_DEPTH_MAX];
};

/*
 * Find the call stack whose innermost frame is *state. The outer frames, kept[1 ..
 * kept_count], are reused from the previous stack; the outermost is first. The inner
 * frames are in fresh; the innermost is first. unwind_keep() merges the two. is_cut is
 * set only if kept_count is 0.
 */
void unwind_stack(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/*
 * Append fresh[i] to the kept frames, those that the next walk may reuse. Must be called
 * for the outermost fresh frame first.
 */
static inline struct unwind_frame *unwind_keep(struct unwind_thread *thread, uint32_t i)
{
	const struct unwind_frame *outer = &thread->kept[thread->kept_count++];
	struct unwind_frame *frame = &thread->kept[thread->kept_count];

	frame->cfa = thread->fresh[i].cfa;
	frame->pc = thread->fresh[i].pc;
	frame->rbp = thread->fresh[i].rbp;
	frame->rbp_delta = thread->fresh[i].rbp_delta;
	if (frame->rbp_delta & UNWIND_USES_RBP ||
	    (outer->rbp_delta & UNWIND_NEEDS_RBP && !(outer->cfa & UNWIND_SAVED_RBP))) {
		frame->rbp_delta |= UNWIND_NEEDS_RBP;
		if (frame->rbp_delta & ~UNWIND_FLAGS)
			frame->cfa |= frame->rbp_delta >> 3 == -2
					      ? UNWIND_SAVED_RBP | UNWIND_PAIR
					      : UNWIND_SAVED_RBP;
	}
	frame->compared = frame->cfa & UNWIND_FLAGS
				  ? &thread->kept[0].cfa
				  : (const uint64_t *)(uintptr_t)(frame->cfa - 8);
	return frame;
}

/*
 * Like unwind_stack(), but find all frames with the unwind tables alone, and store all of
 * them in fresh. No frame of the previous stack is reused.
 */
void unwind_whole(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/*
 * Forget all cached facts about code, because some code was unmapped and other code may
 * be mapped at its addresses.
 */
void unwind_forget(struct unwind_space *space);

#endif
