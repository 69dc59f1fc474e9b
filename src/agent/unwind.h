/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind - who called, and who called that: by .eh_frame, so that no frame pointers are
 * needed, and fast, as most of a stack is what it was the last time. Code without tables,
 * such as a JIT compiler's, is left by its frame pointer.
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

#include "agent/ask.h"
#include "agent/unwind_cfi.h"

/* mmap(2) keeps away from at least 128 MiB of the main stack. */
#define UNWIND_SURE_BYTES (UINT64_C(64) << 20)

/* Of a deeper stack the innermost UNWIND_DEEP_KEPT frames are had, and it is cut. */
#define UNWIND_DEPTH_MAX 2048
#define UNWIND_DEEP_KEPT 128

/*
 * What is needed at an address, with the address, in 8 bytes: a cache, 0 where nothing
 * is. An address has its places in one line of the cache.
 */
#define UNWIND_ROW_COUNT (1 << 15)

/* A power of 2. */
#define UNWIND_RETURN_COUNT (1 << 12)

struct unwind_row {
	uint64_t row; /* see unwind_row.h */
};

/* Of a process, for all its threads. */
struct unwind_space {
#ifndef AGENT_BLOB
	/* The code at pc; false: there is none. Called where it is not known yet. */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *ret);
#endif
	void *context;
	struct unwind_row *rows; /* UNWIND_ROW_COUNT */
	enum ask_permission permission;
	/* Return addresses that follow a call: a cache of UNWIND_RETURN_COUNT, or NULL. */
	uint64_t *returns;
	uint32_t generation;	 /* of unwind_forget(): begun… */
	uint32_t forgotten;	 /* …and done */
};

#ifdef AGENT_BLOB
/* Instead of find, which would be an address of code in memory that the process can write. */
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
 * The registers in a function that called: pc is where it goes on, cfa is its stack
 * pointer then. rbp was saved at cfa + rbp_delta; 0: it was not. These are multiples of
 * 8, and have flags below: of cfa what is to be compared beside the return address, which
 * is little, as most code tells no CFA from rbp.
 */
struct unwind_frame {
	uint64_t cfa, pc, rbp;
	int32_t rbp_delta;
	uint32_t node; /* the caller's own, of the stack from here on outwards */
	/*
	 * Where pc is, in memory, if the stack is what it was; with flags in cfa a place
	 * where it is not, so that these are looked at.
	 */
	const uint64_t *compared;
};

enum unwind_frame_flag {
	UNWIND_BY_RULES = 1 << 0, /* of cfa: found with more than rsp and rbp */
	UNWIND_SAVED_RBP = 1 << 1, /* of cfa: and further out rbp is needed */
	UNWIND_PAIR = 1 << 2, /* of cfa: and that is beside the return address */
	UNWIND_FLAGS = 7,
	UNWIND_USES_RBP = 1 << 0,  /* of rbp_delta: to find who called this one */
	UNWIND_NEEDS_RBP = 1 << 1, /* of rbp_delta: that, or one further out */
	UNWIND_BY_FRAME = 1 << 2, /* of rbp_delta: no table tells who called, its frame pointer did */
};

/* Of a thread. All 0 before the first use but stack_end and sure_start. */
struct unwind_thread {
	uint64_t stack_end; /* of its own stack; 0: unknown, and each page is asked for */
	uint64_t stack_start; /* of what is known to be there of it */
	uint64_t hole;	      /* a page below, where nothing was */
	/*
	 * From here to stack_end the kernel maps nothing but the main stack: code that runs
	 * on any part of it can read everything above. 0: of other threads.
	 */
	uint64_t sure_start;
	uint32_t generation;
	uint32_t kept_count;  /* of kept, beside the first */
	uint32_t fresh_count; /* what is new, innermost first */
	bool is_cut;	/* outside of the outermost of fresh there is more, and it is unknown */
	bool is_passing; /* fresh is all there is, and is not to be kept */
	/*
	 * The stack as it was found last: first what is outside of all, and is like no
	 * frame, then frames from the outermost on.
	 */
	struct unwind_frame kept[1 + UNWIND_DEPTH_MAX];
	struct unwind_frame fresh[UNWIND_DEPTH_MAX];
};

/*
 * Who called, beginning with state, which is the first frame itself. Afterwards the stack
 * is kept[1 .. kept_count] from outermost on, then fresh from its end to its beginning;
 * unwind_keep() makes one of both. is_cut is about fresh, and where there is nothing kept.
 */
void unwind_stack(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* fresh[i] is a part of the kept stack from now on. From the outermost to the innermost. */
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
			frame->cfa |= frame->rbp_delta >> 3 == -2 ? UNWIND_SAVED_RBP | UNWIND_PAIR
								  : UNWIND_SAVED_RBP;
	}
	frame->compared = frame->cfa & UNWIND_FLAGS ?
				  &thread->kept[0].cfa :
				  (const uint64_t *)(uintptr_t)(frame->cfa - 8);
	return frame;
}

/* The same, of all frames into fresh, by tables alone; nothing that was kept is used. */
void unwind_whole(struct unwind_space *space, struct unwind_thread *thread,
		  const struct unwind_state *state);

/* Code was unmapped, and something else may be there soon. */
void unwind_forget(struct unwind_space *space);

#endif
