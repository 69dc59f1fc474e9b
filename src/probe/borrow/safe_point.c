/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/safe_point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/blocked.h"
#include "probe/borrow/call_chain.h"
#include "tracee/ptrace/trace.h"

/*
 * Maximum number of bytes of a thread's stack that are searched. The limit keeps the
 * thread's stop short.
 */
#define STACK_MAX_BYTES (8 * MIB)

#define WORD_BYTES sizeof(uint64_t)

/* The kernel's struct rseq_cs, and the offset of the pointer to it in struct rseq. */
struct rseq_section {
	uint32_t version, flags;
	uint64_t start_addr, bytes, abort_addr;
};
#define RSEQ_SECTION_OFFSET 8

/* Return true if the thread was interrupted in a system call that has not ended. */
static bool is_in_syscall(const struct machine_state *state, long *ret_number)
{
	long result;

	return machine_syscall(state, ret_number, &result) &&
	       (result == -EINTR || (result <= -512 && result >= -516));
}

/*
 * Return true if the interrupted call was made with a syscall instruction. 32-bit calls
 * use other instructions and numbers, and memstate cannot resume them.
 */
static bool is_plain_syscall(int tid, const struct machine_state *state)
{
	size_t expected_bytes, bytes;
	uint64_t site = machine_syscall_site(state, &bytes);
	uint8_t code[8];

	return bytes <= sizeof(code) && trace_read_memory(tid, site, code, bytes) == 0 &&
	       memcmp(code, machine_syscall_code(&expected_bytes), bytes) == 0;
}

static int check_rseq(int tid, const struct machine_state *state)
{
	struct rseq_section section;
	uint64_t addr, section_addr;
	int r;

	r = trace_get_rseq(tid, &addr);
	if (r < 0 || addr == 0)
		return r == -EOPNOTSUPP ? 0 : r;
	r = trace_read_memory(tid, addr + RSEQ_SECTION_OFFSET, &section_addr,
			      sizeof(section_addr));
	if (r < 0 || section_addr == 0)
		return r;
	r = trace_read_memory(tid, section_addr, &section, sizeof(section));
	if (r < 0)
		return r;
	return machine_code_addr(state) - section.start_addr < section.bytes ? -EAGAIN
									     : 0;
}

/*
 * Return the mapping that contains the thread's own stack: [stack] for the main thread;
 * for any other thread, the mapping that also contains the thread's control block, which
 * libc keeps at the end of the stack. Return NULL if the thread runs on another stack,
 * such as that of a signal handler or of a coroutine.
 */
static const struct mapping *find_stack(const struct safe_point *where, int tid,
					const struct machine_state *state)
{
	const struct mapping *m =
		mapping_list_find(where->mappings, machine_stack_addr(state));

	if (!m)
		return NULL;
	if (tid == where->pid)
		return strcmp(m->name, "[stack]") == 0 ? m : NULL;
	return m == mapping_list_find(where->mappings, machine_tls_addr(state)) ? m
										: NULL;
}

/* The kinds of functions that may be active in a thread, according to its stack. */
struct signs {
	/*
	 * true if a function in one of the code ranges of struct landmarks, such as
	 * malloc's, may be active
	 */
	bool holds;
	bool is_handler; /* true if a signal handler may be active */
};

/*
 * Copy the words of the thread's stack, from the stack pointer to libc's
 * thread control block.
 */
static int read_words(const struct safe_point *where, int tid,
		      const struct machine_state *state, uint64_t **ret,
		      size_t *ret_count)
{
	const struct mapping *stack = find_stack(where, tid, state);
	uint64_t start = machine_stack_addr(state) / WORD_BYTES * WORD_BYTES;
	uint64_t end;
	int r;

	if (!stack)
		return -EFAULT;
	end = stack->end_addr;
	if (tid != where->pid && machine_tls_addr(state) > start)
		end = machine_tls_addr(state) / WORD_BYTES * WORD_BYTES;
	if (end - start > STACK_MAX_BYTES)
		return -E2BIG;
	*ret_count = (size_t)((end - start) / WORD_BYTES);
	*ret = xmalloc(*ret_count * WORD_BYTES + 1);
	r = trace_read_memory(tid, start, *ret, *ret_count * WORD_BYTES);
	if (r < 0) {
		free(*ret);
		*ret = NULL;
	}
	return r;
}

/*
 * Find out which functions may be active in the thread. The unwind tables yield the call
 * chain. Where unwinding ends early, treat every further word of the stack as a possible
 * return address.
 */
static void read_signs(const struct safe_point *where, const struct machine_state *state,
		       const uint64_t *words, size_t count, struct signs *ret)
{
	const struct stack_words stack = {
		words, count, machine_stack_addr(state) / WORD_BYTES * WORD_BYTES
	};
	struct machine_place place = machine_place(state);
	struct unwind_state start = { place.code_addr, place.stack_addr,
				      place.frame_addr };
	struct call_chain chain;

	call_chain_read(where->marks, &stack, &start, &chain);
	*ret = (struct signs){ .holds = chain.holds };
	for (size_t i = chain.is_whole ? count : chain.rest_index; i < count; i++)
		ret->holds = ret->holds || landmarks_hold(where->marks, words[i]);
	for (size_t i = 0; i < count && !ret->is_handler; i++)
		ret->is_handler = words[i] == where->marks->sigreturn_addr &&
				  machine_is_handler_frame(words + i + 1, count - i - 1);
}

static int read_stack(const struct safe_point *where, int tid,
		      const struct machine_state *state, struct signs *ret)
{
	_cleanup_free_ uint64_t *words = NULL;
	size_t count;
	int r;

	r = read_words(where, tid, state, &words, &count);
	if (r == 0)
		read_signs(where, state, words, count, ret);
	return r;
}

/*
 * Return true if the thread may hold a lock of libc that its stack does not reveal: libc
 * unlocks in tail calls, and some functions that libc does not export hold locks. While
 * libc holds a lock, it makes only system calls of the kind BLOCKED_MEMORY, unless it
 * waits for another lock.
 */
static bool may_hold_libc_lock(const struct safe_point *where,
			       const struct machine_state *state)
{
	long number, result;

	if (!landmarks_in_libc(where->marks, machine_code_addr(state)) ||
	    is_in_syscall(state, &number))
		return false;
	return !machine_syscall(state, &number, &result) ||
	       blocked_kind(number) == BLOCKED_MEMORY;
}

static int refuse(const char *reason, const char **ret_reason)
{
	*ret_reason = reason;
	return -EAGAIN;
}

int safe_point_check(const struct safe_point *where, int tid,
		     const struct machine_state *state, const char **ret_reason)
{
	long number;

	if (is_in_syscall(state, &number) && !is_plain_syscall(tid, state))
		return refuse("its thread is in an unsuitable system call", ret_reason);
	if (!find_stack(where, tid, state))
		return refuse("its thread runs on another stack", ret_reason);
	if (check_rseq(tid, state) < 0)
		return refuse("its thread is in a restartable sequence", ret_reason);
	return 0;
}

int safe_point_check_locks(const struct safe_point *where, int tid,
			   const struct machine_state *state, const char **ret_reason)
{
	struct signs signs = { false, false };
	long number;
	int r;

	if (machine_blocks_libc(state))
		return refuse("its thread is creating a thread or changing users",
			      ret_reason);
	if (may_hold_libc_lock(where, state))
		return refuse("its thread was inside libc each time it was stopped",
			      ret_reason);
	r = read_stack(where, tid, state, &signs);
	if (r == -E2BIG)
		return refuse("its stack is too deep to search", ret_reason);
	if (r < 0)
		return refuse("its stack cannot be read", ret_reason);
	/*
	 * An allocator never waits for work, so if the thread waits for work, a return
	 * address in the allocator's code must be stale. A waiting signal handler is an
	 * exception, because it may have interrupted the allocator.
	 */
	if (is_in_syscall(state, &number) && !signs.is_handler &&
	    blocked_kind(number) == BLOCKED_IDLE)
		return 0;
	if (!signs.holds)
		return 0;
	return refuse(
		"its thread was in its allocator, or was creating a thread or loading a "
		"library, each time it was stopped",
		ret_reason);
}
