/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind - find the call stack by .eh_frame, so that no frame pointers are needed. It is
 * fast because most of a stack is the same as at the last walk. Code without tables, such
 * as that of a JIT compiler, is unwound by its frame pointer.
 *
 * Frames of the previous stack are reused after a check: the new walk must reach a
 * frame with the same address, stack pointer and frame pointer, and each return address
 * and saved frame pointer further out in memory must be unchanged. The check reads two
 * words per frame, and no table. No libc, no memory of its own, no locks. Unmapped
 * memory is never read: the unwinder knows the bounds of the thread's own stack, and
 * elsewhere asks the kernel first.
 */
#ifndef MS_AGENT_UNWIND_UNWIND_H
#define MS_AGENT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/system/ask.h"
#include "agent/unwind/cfi.h"

/* mmap(2) keeps a distance of at least 128 MiB from the main stack. */
#define UNWIND_SURE_BYTES (UINT64_C(64) << 20)

/* A deeper stack is cut: only its UNWIND_DEEP_KEPT innermost frames are kept. */
#define UNWIND_DEPTH_MAX 2048
#define UNWIND_DEEP_KEPT 128

/*
 * A cache: an address and its unwind row in 8 bytes; 0 if empty. All places for an
 * address are in one cache line.
 */
#define UNWIND_ROW_COUNT (1 << 15)

/* A power of 2. */
#define UNWIND_RETURN_COUNT (1 << 12)

struct unwind_row {
	uint64_t row; /* see row.h */
};

/* Unwinding state of a process, shared by its threads. */
struct unwind_space {
#ifndef AGENT_BLOB
	/*
	 * Find the code at pc; return false if there is none. Called for
	 * addresses not in the cache.
	 */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *ret);
#endif
	void *context;
	struct unwind_row *rows; /* array of UNWIND_ROW_COUNT elements */
	enum ask_permission permission;
	/* A cache of UNWIND_RETURN_COUNT addresses that follow a call, or NULL. */
	uint64_t *returns;
	uint32_t generation; /* number of calls of unwind_forget() that have started */
	uint32_t forgotten;  /* number of calls of unwind_forget() that have finished */
};

#ifdef AGENT_BLOB
/* Replaces find, which would be a code address in memory that the process can write. */
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
 * The registers of a calling function: pc is the return address into it, and cfa is its
 * stack pointer after the return. rbp was saved at cfa + rbp_delta; 0: rbp was not saved.
 * cfa and rbp_delta are multiples of 8 and have flags in the low bits. The flags in cfa
 * tell what to compare besides the return address; most frames need none, as most code
 * does not derive its CFA from rbp.
 */
struct unwind_frame {
	uint64_t cfa, pc, rbp;
	int32_t rbp_delta;
	/* for the caller of unwind: its node for the stack from this frame outwards */
	uint32_t node;
	/*
	 * Where pc is stored, if the stack is unchanged. If cfa has flags, the address of
	 * a word that never equals pc, so that the flags are examined.
	 */
	const uint64_t *compared;
};

enum unwind_frame_flag {
	/* in cfa: finding the frame took more than rsp and rbp */
	UNWIND_BY_RULES = 1 << 0,
	/* in cfa: rbp was saved, and a frame further out needs it */
	UNWIND_SAVED_RBP = 1 << 1,
	/* in cfa: in addition, rbp was saved beside the return address */
	UNWIND_PAIR = 1 << 2,
	UNWIND_FLAGS = 7,
	/* in rbp_delta: rbp is needed to find this frame's caller */
	UNWIND_USES_RBP = 1 << 0,
	/* in rbp_delta: this frame or one further out uses rbp */
	UNWIND_NEEDS_RBP = 1 << 1,
	/* in rbp_delta: without a table, the frame pointer led to the caller */
	UNWIND_BY_FRAME = 1 << 2,
};

/*
 * Unwinding state of a thread. All 0 before the first use, except
 * stack_end and sure_start.
 */
struct unwind_thread {
	/* end of the thread's own stack; 0: unknown, check each page */
	uint64_t stack_end;
	uint64_t stack_start; /* the stack is known to be mapped from here to stack_end */
	uint64_t hole;	      /* a page below the known part that was not mapped */
	/*
	 * From here to stack_end the kernel maps nothing except the main stack: code that
	 * runs on any part of it can read everything above. 0 for other threads.
	 */
	uint64_t sure_start;
	uint32_t generation;
	uint32_t kept_count; /* number of kept frames, without the sentinel */
	/* number of fresh frames; fresh has the innermost frame first */
	uint32_t fresh_count;
	bool is_cut;	 /* the callers of the outermost fresh frame are unknown */
	bool is_passing; /* fresh is the whole stack, and must not be kept */
	/*
	 * The stack found last: first a sentinel that matches no frame, then the
	 * frames, outermost first.
	 */
	struct unwind_frame kept[1 + UNWIND_DEPTH_MAX];
	struct unwind_frame fresh[UNWIND_DEPTH_MAX];
};

/*
 * Find the call stack that starts at state, which is the innermost frame. The result,
 * from the outermost frame inwards, is kept[1 .. kept_count], then fresh from its end
 * to its beginning; unwind_keep() merges the two. is_cut is set only if no kept
 * frames are part of the result.
 */
void unwind_stack(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* Append fresh[i] to the kept frames. Call it for the outermost fresh frame first. */
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
 * Like unwind_stack(), but find all frames, by tables alone, into
 * fresh; kept is not used.
 */
void unwind_whole(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* Forget cached code: some was unmapped, and other code may soon be at its addresses. */
void unwind_forget(struct unwind_space *space);

#endif
