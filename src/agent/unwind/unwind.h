/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind - find the call stack with the unwind tables in .eh_frame, so that programs need
 * no frame pointers. Unwinding is fast because most of a stack is the same as in the last
 * walk. Code without tables, such as that of a JIT compiler, is unwound with its frame
 * pointer.
 *
 * Frames of the previous stack are reused after a check. The new walk must reach a frame
 * with the same address, stack pointer and frame pointer, and all return addresses and
 * saved frame pointers further out must be unchanged. The check reads two words per
 * frame, and no table.
 *
 * The code uses no libc, no memory of its own, and no locks. It never reads unmapped
 * memory: the bounds of the thread's own stack are known, and for other memory the
 * unwinder first asks the kernel.
 */
#ifndef MS_AGENT_UNWIND_UNWIND_H
#define MS_AGENT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/system/ask.h"
#include "agent/unwind/cfi.h"

/*
 * Size of an address range below the top of the main stack that contains only the stack.
 * It is less than the 128 MiB or more that mmap(2) leaves free for the main stack.
 */
#define UNWIND_SURE_BYTES (UINT64_C(64) << 20)

/*
 * Maximum number of frames of a stack. If a stack is deeper, only its UNWIND_DEEP_KEPT
 * innermost frames are kept, and the stack is marked as truncated.
 */
#define UNWIND_DEPTH_MAX 2048
#define UNWIND_DEEP_KEPT 128

/*
 * Number of elements in the cache of unwind rules. Each element contains a code address
 * and its row of rules in 8 bytes, or 0 if the element is empty. All elements that an
 * address may use are in one CPU cache line.
 */
#define UNWIND_ROW_COUNT (1 << 15)

/* Number of elements in the cache of return addresses. Must be a power of 2. */
#define UNWIND_RETURN_COUNT (1 << 12)

struct unwind_row {
	uint64_t row; /* code address and its unwind rules; see row.h */
};

/* The unwinding state that all threads of a process share. */
struct unwind_space {
#ifndef AGENT_BLOB
	/*
	 * Callback that finds the module that contains the code at pc. It returns false
	 * if no module does. The callback is used only for addresses that are not in the
	 * cache.
	 */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *ret);
#endif
	void *context;
	/* cache of unwind rules: an array of UNWIND_ROW_COUNT elements */
	struct unwind_row *rows;
	enum ask_permission permission;
	/*
	 * Cache of addresses known to follow a call instruction: an array of
	 * UNWIND_RETURN_COUNT elements, or NULL.
	 */
	uint64_t *returns;
	uint32_t generation; /* number of calls to unwind_forget() that have started */
	uint32_t forgotten;  /* number of calls to unwind_forget() that have finished */
};

#ifdef AGENT_BLOB
/*
 * Find a module for the hooks. The hooks cannot call the function pointer space->find:
 * the process can write to the struct that contains it, and could redirect the call.
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
 * rbp_delta, or not saved if rbp_delta is 0.
 *
 * cfa and rbp_delta are multiples of 8 and have flags in the low bits. The flags in cfa
 * select what to compare besides the return address. Most frames need no flag, because
 * most code does not derive its CFA from rbp.
 */
struct unwind_frame {
	uint64_t cfa, pc, rbp;
	int32_t rbp_delta;
	/*
	 * node that represents the stack from this frame outwards; set by the caller of
	 * the unwinder
	 */
	uint32_t node;
	/*
	 * Address of the word on the stack that contains the return address, which equals
	 * pc if the stack is unchanged. If cfa has flags, this is the address of a word
	 * that never equals pc, so that the flags are examined.
	 */
	const uint64_t *compared;
};

enum unwind_frame_flag {
	/* flag in cfa: the frame depends on more than the values of rsp and rbp */
	UNWIND_BY_RULES = 1 << 0,
	/*
	 * flag in cfa: the function saved rbp, and a frame further out needs the saved
	 * value
	 */
	UNWIND_SAVED_RBP = 1 << 1,
	/*
	 * flag in cfa, in addition to UNWIND_SAVED_RBP: rbp was saved next to the return
	 * address
	 */
	UNWIND_PAIR = 1 << 2,
	UNWIND_FLAGS = 7,
	/* flag in rbp_delta: rbp is needed to find this frame's caller */
	UNWIND_USES_RBP = 1 << 0,
	/* flag in rbp_delta: rbp is needed for this frame or for a frame further out */
	UNWIND_NEEDS_RBP = 1 << 1,
	/*
	 * flag in rbp_delta: the code has no unwind table, so its caller was found with
	 * the frame pointer
	 */
	UNWIND_BY_FRAME = 1 << 2,
};

/*
 * The unwinding state of a thread. All members are 0 before the first use, except
 * stack_end and sure_start.
 */
struct unwind_thread {
	/*
	 * end address of the thread's own stack; 0 if the stack is unknown, so that each
	 * page must be checked before it is read
	 */
	uint64_t stack_end;
	/*
	 * start of the known part of the stack; the memory from here to stack_end is
	 * mapped
	 */
	uint64_t stack_start;
	/* address of an unmapped page below the known range of the stack */
	uint64_t hole;
	/*
	 * Start of the address range in which the kernel maps only the main stack; the
	 * range ends at stack_end. Code whose stack pointer is in this range can read
	 * everything up to stack_end. 0 for threads other than the main thread.
	 */
	uint64_t sure_start;
	uint32_t generation;
	/*
	 * number of frames of the last stack that are kept for reuse, not counting
	 * the sentinel
	 */
	uint32_t kept_count;
	/* number of frames in `fresh`, which the last walk found, innermost first */
	uint32_t fresh_count;
	/*
	 * true if the callers of the outermost frame in `fresh` could not be determined
	 */
	bool is_cut;
	/*
	 * true if `fresh` contains the whole stack, and the next walk must not reuse it
	 */
	bool is_passing;
	/*
	 * The frames of the last stack, kept for reuse. kept[0] is a sentinel that
	 * matches no frame; the frames follow, outermost first.
	 */
	struct unwind_frame kept[1 + UNWIND_DEPTH_MAX];
	struct unwind_frame fresh[UNWIND_DEPTH_MAX];
};

/*
 * Find the call stack whose innermost frame is *state. Its outer frames, reused from the
 * previous stack, are kept[1 .. kept_count], outermost first. Its inner frames are in
 * `fresh`, innermost first. unwind_keep() merges both lists. is_cut is set only if
 * kept_count is 0.
 */
void unwind_stack(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/*
 * Append fresh[i] to the kept frames, which the next walk may reuse. Call this function
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
 * Like unwind_stack(), but find all frames with the unwind tables, reuse no frame of the
 * previous stack, and store all frames in `fresh`.
 */
void unwind_whole(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/*
 * Forget all cached information about code. Call this function after code was unmapped,
 * because other code may be mapped at its addresses.
 */
void unwind_forget(struct unwind_space *space);

#endif
