/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/safe_point.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/blocked.h"
#include "target/trace.h"

/* What is looked through of a stack while its thread stands still. */
#define STACK_MAX_BYTES (8 * MIB)

#define WORD_BYTES sizeof(uint64_t)

/* struct rseq_cs of the kernel, and where struct rseq points to it. */
struct rseq_section {
	uint32_t version, flags;
	uint64_t start_addr, bytes, abort_addr;
};
#define RSEQ_SECTION_OFFSET 8

/* Was it broken off in a system call? result: as the kernel left it. */
static bool is_in_syscall(const struct machine_state *state, long *ret_number)
{
	long result;

	return machine_syscall(state, ret_number, &result) &&
	       (result == -EINTR || (result <= -512 && result >= -516));
}

/*
 * A program may use system calls of another kind, whose numbers mean others: they cannot
 * be gone on with.
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
	return machine_code_addr(state) - section.start_addr < section.bytes ? -EAGAIN : 0;
}

/*
 * The mapping that is the stack of the thread, and of no signal handler or coroutine.
 * libc keeps its own data of a thread at the end of the thread's stack.
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
	return m == mapping_list_find(where->mappings, machine_tls_addr(state)) ? m : NULL;
}

/* What the words of the stack say. */
struct signs {
	bool holds;	 /* code of an allocator, or its like, is to be returned to */
	bool is_handler; /* so is the end of a signal handler */
};

static int read_stack(const struct safe_point *where, int tid,
		      const struct machine_state *state, struct signs *ret)
{
	const struct mapping *stack = find_stack(where, tid, state);
	uint64_t start = machine_stack_addr(state) / WORD_BYTES * WORD_BYTES;
	_cleanup_free_ uint64_t *words = NULL;
	uint64_t end;
	size_t count;
	int r;

	if (!stack)
		return -EFAULT;
	end = stack->end_addr;
	if (tid != where->pid && machine_tls_addr(state) > start)
		end = machine_tls_addr(state) / WORD_BYTES * WORD_BYTES;
	if (end - start > STACK_MAX_BYTES)
		return -E2BIG;
	count = (size_t)((end - start) / WORD_BYTES);
	words = xmalloc(count * WORD_BYTES + 1);
	r = trace_read_memory(tid, start, words, count * WORD_BYTES);
	if (r < 0)
		return r;
	*ret = (struct signs){ .holds = landmarks_hold(where->marks, machine_code_addr(state)) };
	for (size_t i = 0; i < count; i++) {
		ret->holds = ret->holds || landmarks_hold(where->marks, words[i]);
		ret->is_handler = ret->is_handler ||
				  (words[i] == where->marks->sigreturn_addr &&
				   machine_is_handler_frame(words + i + 1, count - i - 1));
	}
	return 0;
}

static int refuse(const char *reason, const char **ret_reason)
{
	*ret_reason = reason;
	return -EAGAIN;
}

int safe_point_check(const struct safe_point *where, int tid, const struct machine_state *state,
		     const char **ret_reason)
{
	long number;

	if (is_in_syscall(state, &number) && !is_plain_syscall(tid, state))
		return refuse("its thread is in a system call of another kind", ret_reason);
	if (!find_stack(where, tid, state))
		return refuse("its thread runs on a stack that is not its own", ret_reason);
	if (check_rseq(tid, state) < 0)
		return refuse("its thread is in a restartable sequence", ret_reason);
	return 0;
}

int safe_point_check_locks(const struct safe_point *where, int tid,
			   const struct machine_state *state, const char **ret_reason)
{
	struct signs signs;
	long number;
	int r;

	if (machine_blocks_libc(state))
		return refuse("its thread is in what creates threads or changes users", ret_reason);
	r = read_stack(where, tid, state, &signs);
	if (r == -E2BIG)
		return refuse("its stack is too deep to be looked through", ret_reason);
	if (r < 0)
		return refuse("its stack cannot be read", ret_reason);
	/*
	 * an old word of the stack is no obstacle where allocators never wait; a handler
	 * may have broken one off
	 */
	if (is_in_syscall(state, &number) && !signs.is_handler &&
	    blocked_kind(number) == BLOCKED_IDLE)
		return 0;
	if (!signs.holds)
		return 0;
	return refuse("its thread was in its allocator, or in what creates threads or loads "
		      "libraries, each time it was looked at",
		      ret_reason);
}
