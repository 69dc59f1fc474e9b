/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind - who called, and who called that: by .eh_frame, so that no frame pointers are
 * needed, and fast, as most of a stack is what it was the last time.
 *
 * What is known of the stack before is verified: a frame with the same address, stack and
 * frame pointer as one of it has the same callers, if each return address and saved frame
 * pointer further out, in memory, is the same; so two words are read per frame, and no
 * table. No libc, no memory of its own, no lock. It reads no memory that is not there:
 * within the thread's own stack it knows, elsewhere it asks the kernel.
 */
#ifndef MS_AGENT_UNWIND_H
#define MS_AGENT_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/unwind_cfi.h"

/* Of a deeper stack the innermost UNWIND_DEEP_KEPT frames are had, and it is cut. */
#define UNWIND_DEPTH_MAX 2048
#define UNWIND_DEEP_KEPT 128

/* What is needed at an address, in 8 bytes, beside the address: a cache, 0 where nothing is. */
#define UNWIND_ROW_BITS	 15
#define UNWIND_ROW_COUNT (1 << UNWIND_ROW_BITS)

struct unwind_row {
	uint64_t key; /* address ^ row: what is half written by two threads fits no address */
	uint64_t row;
};

/* Of a process, for all its threads. */
struct unwind_space {
	/* The code at pc; false: there is none. Called where it is not known yet. */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *ret);
	void *context;
	struct unwind_row *rows; /* UNWIND_ROW_COUNT */
	uint32_t generation;	 /* of unwind_forget() */
};

/* How a frame's rbp was found that was not at a place that is told from its CFA. */
#define UNWIND_BY_RULES INT32_MIN

/*
 * The registers in a function that called: pc is where it goes on, cfa is its stack
 * pointer then. rbp was saved at cfa + rbp_delta; 0: was not saved.
 */
struct unwind_frame {
	uint64_t cfa, pc, rbp;
	int32_t rbp_delta;
	uint32_t node; /* the caller's own, of the stack from here on outwards */
};

/* Of a thread. All 0 before the first use but stack_end. */
struct unwind_thread {
	uint64_t stack_end; /* of its own stack; 0: unknown, and each page is asked for */
	uint64_t stack_start; /* of what is known to be there of it */
	uint64_t hole;	      /* a page below, where nothing was */
	uint32_t generation;
	uint32_t kept_count;  /* the stack as it was found last, outermost first */
	uint32_t fresh_count; /* what is new, innermost first */
	bool is_cut;	/* outside of the outermost of fresh there is more, and it is unknown */
	bool is_passing; /* fresh is all there is, and is not to be kept */
	struct unwind_frame kept[UNWIND_DEPTH_MAX];
	struct unwind_frame fresh[UNWIND_DEPTH_MAX];
};

/*
 * Who called, beginning with state, which is the first frame itself. Afterwards the stack
 * is kept[0 .. kept_count) from outermost on, then fresh from its end to its beginning;
 * unwind_keep() makes one of both. is_cut is about fresh, and where there is nothing kept.
 */
void unwind_stack(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* fresh[i] is a part of the kept stack from now on. From the outermost to the innermost. */
static inline struct unwind_frame *unwind_keep(struct unwind_thread *thread, uint32_t i)
{
	struct unwind_frame *frame = &thread->kept[thread->kept_count++];

	*frame = thread->fresh[i];
	return frame;
}

/* The same, of all frames into fresh, by tables alone; nothing that was kept is used. */
void unwind_whole(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* Code was unmapped, and something else may be there soon. */
void unwind_forget(struct unwind_space *space);

#endif
