/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/unwind/unwind.h"

#include <stddef.h>

#include "agent/unwind/row.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)
#define COLD __attribute__((cold, noinline))

#define PAGE_BYTES ASK_PAGE_BYTES
/* maximum size of a frame that is found with the frame pointer */
#define FRAME_MAX (UINT64_C(1) << 20)

/* Maximum size of a possible stack that is probed page by page. */
#define STACK_MAX (UINT64_C(256) << 20)

/* Return true if the page is readable and no seccomp filter forbids the check. */
static COLD bool page_is_there(const struct unwind_space *space, uint64_t page)
{
	return ask_may(space->permission) && ask_can_read(page);
}

/*
 * Extend the known range of the thread's stack down to sp, page by page. An unmapped
 * page in between means that sp is on another stack; remember this page, and check it
 * first the next time.
 */
static COLD bool extend_stack(const struct unwind_space *space, struct unwind_thread *t,
			      uint64_t sp)
{
	uint64_t start = sp & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t page = t->stack_start ? t->stack_start
				       : (t->stack_end + PAGE_BYTES - 1) &
						 ~(uint64_t)(PAGE_BYTES - 1);

	if (t->sure_start && sp >= t->sure_start && sp < t->stack_end)
		page = start;
	else if (sp >= page || sp >= t->stack_end || t->stack_end - sp > STACK_MAX ||
		 (sp < t->hole && !page_is_there(space, t->hole)))
		return false;
	while (page > start) {
		page -= PAGE_BYTES;
		if (!page_is_there(space, page)) {
			t->hole = page;
			return false;
		}
	}
	t->stack_start = start;
	/* the sentinel ends each search, because it never compares equal to a frame */
	t->kept[0] = (struct unwind_frame){ UINT64_MAX, 1, 0, 0, 0, &t->kept[0].cfa };
	return true;
}

static inline bool is_own_stack(const struct unwind_space *space, struct unwind_thread *t,
				uint64_t sp)
{
	return (likely(sp >= t->stack_start) && likely(sp < t->stack_end) &&
		likely(t->stack_start)) ||
	       extend_stack(space, t, sp);
}

/* Result of a step that used the frame pointer. Other steps return 1, 0 or -1. */
#define STEP_BY_FRAME 2

/* The state of a stack walk. */
struct reading {
	const struct unwind_space *space;
	const struct unwind_thread *thread;
	uint64_t page; /* address of a page known to be readable */
};

static bool read_word(void *context, uint64_t addr, uint64_t *ret)
{
	struct reading *reading = context;
	const struct unwind_thread *t = reading->thread;
	uint64_t page = addr & ~(uint64_t)(PAGE_BYTES - 1);

	if (addr & 7)
		return false;
	if (!t->stack_start || addr < t->stack_start || addr >= t->stack_end) {
		if (page != reading->page && !page_is_there(reading->space, page))
			return false;
		reading->page = page;
	}
	*ret = *(const uint64_t *)(uintptr_t)addr;
	return true;
}

/*
 * Step from a signal handler to the interrupted code, using the registers that the
 * kernel saved on the stack.
 */
static bool leave_signal(struct reading *reading, struct unwind_state *state)
{
	enum {
		RBP_AT = 120,
		RSP_AT = 160,
		RIP_AT = 168
	};
	struct unwind_state next;

	if (!read_word(reading, state->sp + RBP_AT, &next.rbp) ||
	    !read_word(reading, state->sp + RSP_AT, &next.sp) ||
	    !read_word(reading, state->sp + RIP_AT, &next.pc))
		return false;
	*state = next;
	return true;
}

/*
 * Step to the caller of code without unwind tables, assuming that the caller's rbp is
 * stored at rbp, followed by the return address. The code may have no frame pointer, so
 * check that rbp is not below the stack pointer or too far above it, and that a call
 * instruction precedes the return address.
 */
static COLD bool step_by_frame(struct unwind_space *space, struct reading *reading,
			       struct unwind_state *state)
{
	struct unwind_state next = { 0, state->rbp + 16, 0 };

	if (state->rbp < state->sp || state->rbp - state->sp > FRAME_MAX ||
	    !read_word(reading, state->rbp, &next.rbp) ||
	    !read_word(reading, state->rbp + 8, &next.pc) ||
	    !unwind_is_return(space, next.pc))
		return false;
	*state = next;
	return true;
}

/* Step to the caller, with the frame pointer if the code has no unwind rules. */
static int step_by_rules(struct unwind_space *space, struct reading *reading,
			 uint64_t lookup, struct unwind_state *state)
{
	struct unwind_rules rules;
	uint64_t row = unwind_rules_at(space, lookup, &rules);

	if (row_kind(row) == ROW_NONE || row_kind(row) == ROW_CUT)
		return step_by_frame(space, reading, state) ? STEP_BY_FRAME : -1;
	if (row == ROW_SIGNAL)
		return leave_signal(reading, state) ? 1 : -1;
	if (row == ROW_END)
		return 0;
	return unwind_rules_apply(&rules, state, read_word, reading);
}

/* Step to the next frame using unwind rules that the fast path does not support. */
static COLD int step_slowly(struct unwind_space *space, struct unwind_thread *t,
			    uint64_t row, struct unwind_state *state)
{
	struct reading reading = { space, t, 0 };
	struct unwind_state next = { 0, 0, state->rbp };
	uint64_t before = state->sp;
	int r;

	if (row_kind(row) == ROW_ALIGNED) {
		if (!read_word(&reading, state->rbp + (uint64_t)row_cfa(row), &next.sp) ||
		    !read_word(&reading, next.sp - 8, &next.pc) ||
		    !read_word(&reading, state->rbp + (uint64_t)(int64_t)row_rbp(row),
			       &next.rbp))
			return -1;
		*state = next;
		r = 1;
	} else {
		r = step_by_rules(space, &reading, state->pc - 1, state);
	}
	if (r == 1 && (state->sp <= before || state->sp > t->stack_end || state->sp & 7))
		return -1;
	return r;
}

static inline uint64_t cfa_of(const struct unwind_frame *f)
{
	return f->cfa & ~(uint64_t)UNWIND_FLAGS;
}

/* Return the offset from the CFA at which rbp was saved. */
static inline uint64_t saved_at(const struct unwind_frame *f)
{
	return (uint64_t)(int64_t)(f->rbp_delta & ~UNWIND_FLAGS);
}

static inline uint64_t word_at(uint64_t addr)
{
	return *(const uint64_t *)(uintptr_t)addr;
}

static inline bool is_at(const struct unwind_frame *f, uint64_t pc, uint64_t sp,
			 uint64_t rbp)
{
	return f->pc == pc && cfa_of(f) == sp &&
	       (!(f->rbp_delta & UNWIND_NEEDS_RBP) || f->rbp == rbp);
}

/* Unwind the next inner frame again. Return true if its caller is still frame `to`. */
static COLD bool is_same_by_rules(struct unwind_space *space, struct unwind_thread *t,
				  const struct unwind_frame *to)
{
	const struct unwind_frame *from = to + 1;
	struct unwind_state state = { from->pc, cfa_of(from), from->rbp };

	return step_slowly(space, t, row_at(space, from->pc - 1), &state) == 1 &&
	       is_at(to, state.pc, state.sp, state.rbp);
}

/* Return true if a frame with flags in cfa still has the same pc and saved rbp. */
static inline bool is_same(struct unwind_space *space, struct unwind_thread *t,
			   const struct unwind_frame *f)
{
	if (unlikely(f->cfa & UNWIND_BY_RULES))
		return is_same_by_rules(space, t, f);
	return f->cfa & UNWIND_SAVED_RBP && word_at(cfa_of(f) - 8) == f->pc &&
	       word_at(cfa_of(f) + saved_at(f)) == f->rbp;
}

/* Like is_same(), but false unless the function first pushes rbp as a frame pointer. */
static inline bool is_same_pair(const struct unwind_frame *f)
{
	const unsigned int flags = UNWIND_SAVED_RBP | UNWIND_PAIR;
	const uint64_t *pair = (const uint64_t *)(uintptr_t)(f->cfa - flags) - 2;

	return (f->cfa & UNWIND_FLAGS) == flags &&
	       !((pair[0] ^ f->rbp) | (pair[1] ^ f->pc));
}

/* Return the innermost caller of `top` that has changed, or else the sentinel. */
static inline const struct unwind_frame *find_changed(struct unwind_space *space,
						      struct unwind_thread *t,
						      const struct unwind_frame *top)
{
	const struct unwind_frame *f = top - 1;

	for (;; f--) {
		/* the loop ends at the sentinel kept[0], which never compares equal */
#pragma GCC unroll 8
		while (likely(*f->compared == f->pc))
			f--;
		while (is_same_pair(f))
			f--;
		if (*f->compared == f->pc)
			continue;
		if (f == t->kept || !is_same(space, t, f))
			return f;
	}
}

/* The reasons why a walk of the thread's own stack ended. */
enum walk_end {
	WALK_KNOWN,
	WALK_WHOLE,
	WALK_CUT,
	WALK_PASSED,
	WALK_TOO_DEEP
};

struct walk {
	struct unwind_state state;
	uint64_t flags;	   /* flags to store in the cfa of the current frame */
	int32_t rbp_delta; /* value to store in rbp_delta of the current frame */
	/* number of frames found so far that are not reused from the previous stack */
	uint32_t count;
};

/*
 * Store the fields one at a time: they are read again soon, and a combined store of two
 * fields would have to wait for both values.
 */
static inline void put_frame(struct unwind_frame *frame, const struct walk *w)
{
	frame->cfa = w->state.sp | w->flags;
	frame->pc = w->state.pc;
	frame->rbp = w->state.rbp;
	frame->rbp_delta = w->rbp_delta;
}

/* Step to the caller of code without unwind tables, assuming a frame pointer. */
static COLD enum walk_end step_by_own_frame(struct unwind_space *space,
					    struct unwind_thread *t, struct walk *w)
{
	struct reading reading = { space, t, 0 };
	struct unwind_state state = w->state;

	if (!step_by_frame(space, &reading, &state) || state.sp > t->stack_end)
		return WALK_CUT;
	t->fresh[w->count - 1].rbp_delta |= UNWIND_USES_RBP | UNWIND_BY_FRAME;
	w->state = state;
	w->flags = 0;
	w->rbp_delta = -16;
	return WALK_KNOWN;
}

/*
 * Step to the next frame if the row (unwind rules) is of a rare kind. The state is
 * copied, so that the compiler can keep *w in registers in all other cases.
 */
static inline enum walk_end step_unusual(struct unwind_space *space,
					 struct unwind_thread *t, uint64_t row,
					 struct walk *w)
{
	struct unwind_state state = w->state;
	int r;

	switch (row_kind(row)) {
	case ROW_END: return WALK_WHOLE;
	case ROW_CUT: return step_by_own_frame(space, t, w);
	case ROW_SIGNAL: return WALK_PASSED;
	default: break;
	}
	t->fresh[w->count - 1].rbp_delta |= UNWIND_USES_RBP;
	r = step_slowly(space, t, row, &state);
	w->state = state;
	w->flags = UNWIND_BY_RULES;
	w->rbp_delta = 0;
	return r == 1 ? WALK_KNOWN : r == 0 ? WALK_WHOLE : WALK_CUT;
}

/* Step to the next frame. Return WALK_KNOWN, or the reason why the walk ends here. */
static inline enum walk_end step(struct unwind_space *space, struct unwind_thread *t,
				 struct walk *w)
{
	uint64_t row = row_at(space, w->state.pc - 1), cfa = w->state.sp;
	unsigned int kind = row_kind(row);
	int32_t delta = row_rbp(row);

	if (unlikely(kind != ROW_RSP && kind != ROW_RBP))
		return step_unusual(space, t, row, w);
	if (kind == ROW_RBP) {
		cfa = w->state.rbp;
		t->fresh[w->count - 1].rbp_delta |= UNWIND_USES_RBP;
	}
	cfa += (uint64_t)row_cfa(row);
	if (unlikely(cfa <= w->state.sp || cfa > t->stack_end || cfa & 7))
		return WALK_CUT;
	if (delta) {
		uint64_t at = cfa + (uint64_t)(int64_t)delta;

		if (unlikely(at < t->stack_start || at >= t->stack_end || at & 7))
			return WALK_CUT;
		w->state.rbp = word_at(at);
	}
	w->flags = 0;
	w->rbp_delta = delta;
	w->state.pc = word_at(cfa - 8);
	w->state.sp = cfa;
	return WALK_KNOWN;
}

/*
 * Walk the thread's own stack. Return WALK_KNOWN if the walk reached a frame of the
 * previous stack, whose outer frames are then kept[1 .. kept_count].
 */
static inline enum walk_end walk_own(struct unwind_space *space, struct unwind_thread *t,
				     const struct unwind_state *start)
{
	struct walk w = { { start->pc, start->sp, start->rbp }, 0, 0, 0 };
	const struct unwind_frame *top = &t->kept[t->kept_count];
	enum walk_end end = WALK_KNOWN;

	for (; end == WALK_KNOWN; end = step(space, t, &w)) {
		if (unlikely(!w.state.pc)) {
			end = WALK_WHOLE;
			break;
		}
		while (top->cfa < w.state.sp)
			top--;
		if (is_at(top, w.state.pc, w.state.sp, w.state.rbp)) {
			const struct unwind_frame *changed = find_changed(space, t, top);

			if (likely(changed == t->kept))
				break;
			top = changed - 1;
		}
		if (unlikely(w.count == UNWIND_DEPTH_MAX)) {
			end = WALK_TOO_DEEP;
			break;
		}
		put_frame(&t->fresh[w.count++], &w);
	}
	t->fresh_count = w.count;
	if (end != WALK_PASSED)
		t->kept_count = end == WALK_KNOWN ? (uint32_t)(top - t->kept) : 0;
	return end;
}

/* Keep only the innermost frames of a stack that is too deep. */
static COLD void shorten(struct unwind_thread *t)
{
	uint32_t kept = t->kept_count;

	while (t->fresh_count < UNWIND_DEEP_KEPT && kept > 0)
		t->fresh[t->fresh_count++] = t->kept[kept--];
	t->fresh_count = UNWIND_DEEP_KEPT;
	t->is_cut = true;
	t->is_passing = true;
}

/* Step to the caller with cached unwind rules. Return false if that is not possible. */
static bool step_by_row(struct reading *reading, uint64_t row, struct unwind_state *state)
{
	struct unwind_state next = { 0, 0, state->rbp };

	if (row_kind(row) != ROW_RSP && row_kind(row) != ROW_RBP)
		return false;
	next.sp = (row_kind(row) == ROW_RSP ? state->sp : state->rbp) +
		  (uint64_t)row_cfa(row);
	if (!read_word(reading, next.sp - 8, &next.pc) ||
	    (row_rbp(row) &&
	     !read_word(reading, next.sp + (uint64_t)(int64_t)row_rbp(row), &next.rbp)))
		return false;
	*state = next;
	return true;
}

/*
 * Walk any stack, and continue from signal handlers to the interrupted code. Read memory
 * only after checking that it is readable.
 */
static COLD void walk_anywhere(struct unwind_space *space, struct unwind_thread *t,
			       const struct unwind_state *start, bool has_rows)
{
	struct reading reading = { space, t, 0 };
	struct unwind_state state = *start;
	uint64_t is_call = 1;

	t->fresh_count = 0;
	t->is_cut = false;
	while (state.pc) {
		uint64_t lookup = state.pc - is_call, before = state.sp, row;
		int r;

		if (t->fresh_count == UNWIND_DEPTH_MAX) {
			shorten(t);
			return;
		}
		t->fresh[t->fresh_count++] = (struct unwind_frame){ state.sp,  state.pc,
								    state.rbp, 0,
								    0,	       NULL };
		row = row_at(space, lookup);
		is_call = row_kind(row) != ROW_SIGNAL;
		r = has_rows && step_by_row(&reading, row, &state)
			    ? 1
			    : step_by_rules(space, &reading, lookup, &state);
		if (r == 0)
			return;
		if (r < 0 || (is_call && state.sp <= before)) {
			t->is_cut = true;
			return;
		}
		if (r == STEP_BY_FRAME)
			t->fresh[t->fresh_count - 1].rbp_delta = UNWIND_BY_FRAME;
	}
}

static COLD void unwind_passing(struct unwind_space *space, struct unwind_thread *t,
				const struct unwind_state *start)
{
	walk_anywhere(space, t, start, true);
	t->is_passing = true;
}

void unwind_whole(struct unwind_space *space, struct unwind_thread *t,
		  const struct unwind_state *state)
{
	is_own_stack(space, t, state->sp);
	walk_anywhere(space, t, state, false);
}

void unwind_stack(struct unwind_space *space, struct unwind_thread *t,
		  const struct unwind_state *state)
{
	uint32_t generation = __atomic_load_n(&space->generation, __ATOMIC_ACQUIRE);
	enum walk_end end;

	if (unlikely(t->generation != generation)) {
		t->generation = generation;
		t->kept_count = 0;
	}
	t->is_cut = t->is_passing = false;
	if (unlikely(!is_own_stack(space, t, state->sp))) {
		unwind_passing(space, t, state);
		return;
	}
	end = walk_own(space, t, state);
	if (unlikely(end == WALK_PASSED))
		unwind_passing(space, t, state);
	else if (unlikely(end == WALK_TOO_DEEP ||
			  t->kept_count + t->fresh_count > UNWIND_DEPTH_MAX))
		shorten(t);
	else
		t->is_cut = end == WALK_CUT;
}

void unwind_forget(struct unwind_space *space)
{
	__atomic_fetch_add(&space->generation, 1, __ATOMIC_ACQ_REL);
	for (uint32_t i = 0; i < UNWIND_ROW_COUNT; i++)
		__atomic_store_n(&space->rows[i].row, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&space->forgotten, 1, __ATOMIC_ACQ_REL);
}
