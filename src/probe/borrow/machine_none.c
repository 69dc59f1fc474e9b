/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/machine.h"

#include <errno.h>

/*
 * Stubs for architectures on which memstate cannot borrow threads. They are never
 * called, because callers first check platform_unsupported_reason(PLATFORM_BORROW).
 */
#if !defined(__x86_64__)

const uint8_t *machine_syscall_code(size_t *ret_bytes)
{
	*ret_bytes = 0;
	return NULL;
}

const uint8_t *machine_sigreturn_code(size_t *ret_bytes)
{
	*ret_bytes = 0;
	return NULL;
}

bool machine_is_handler_frame(const uint64_t *words, size_t count)
{
	(void)words;
	(void)count;
	return false;
}

bool machine_handler_place(const uint64_t *words, size_t count, struct machine_place *ret)
{
	(void)words;
	(void)count;
	(void)ret;
	return false;
}

bool machine_is_interrupted(const uint64_t *words, size_t count, size_t index)
{
	(void)words;
	(void)count;
	(void)index;
	return false;
}

struct machine_state *machine_state_new(void)
{
	return NULL;
}

void machine_state_free(struct machine_state *state)
{
	(void)state;
}

int machine_save(int tid, struct machine_state *ret)
{
	(void)tid;
	(void)ret;
	return -EOPNOTSUPP;
}

uint64_t machine_code_addr(const struct machine_state *state)
{
	(void)state;
	return 0;
}

uint64_t machine_stack_addr(const struct machine_state *state)
{
	(void)state;
	return 0;
}

uint64_t machine_tls_addr(const struct machine_state *state)
{
	(void)state;
	return 0;
}

struct machine_place machine_place(const struct machine_state *state)
{
	(void)state;
	return (struct machine_place){ 0, 0, 0 };
}

bool machine_blocks_libc(const struct machine_state *state)
{
	(void)state;
	return false;
}

bool machine_syscall(const struct machine_state *state, long *ret_number,
		     long *ret_result)
{
	(void)state;
	(void)ret_number;
	(void)ret_result;
	return false;
}

uint64_t machine_syscall_site(const struct machine_state *state, size_t *ret_bytes)
{
	(void)state;
	*ret_bytes = 0;
	return 0;
}

void machine_set_result(struct machine_state *state, long result)
{
	(void)state;
	(void)result;
}

void machine_learn(struct machine_state *state, const struct machine_state *earlier)
{
	(void)state;
	(void)earlier;
}

void machine_restart_sleep(struct machine_state *state)
{
	(void)state;
}

size_t machine_frame(const struct machine_state *state, uint64_t sigreturn_addr,
		     uint8_t ret[MACHINE_FRAME_MAX], uint64_t *ret_addr)
{
	(void)state;
	(void)sigreturn_addr;
	(void)ret;
	(void)ret_addr;
	return 0;
}

size_t machine_call_frame(const struct machine_state *state,
			  const struct machine_code *code, uint64_t sigreturn_addr,
			  const uint64_t call[7], uint8_t ret[MACHINE_FRAME_MAX],
			  uint64_t *ret_addr)
{
	(void)state;
	(void)code;
	(void)sigreturn_addr;
	(void)call;
	(void)ret;
	(void)ret_addr;
	return 0;
}

int machine_begin_syscall(int tid, const struct machine_state *state,
			  const struct machine_code *code, const uint64_t call[7])
{
	(void)tid;
	(void)state;
	(void)code;
	(void)call;
	return -EOPNOTSUPP;
}

int machine_is_at_syscall(int tid, const struct machine_code *code, long number,
			  long *ret_result)
{
	(void)tid;
	(void)code;
	(void)number;
	(void)ret_result;
	return -EOPNOTSUPP;
}

int machine_is_borrowed(int tid, const struct machine_code *code)
{
	(void)tid;
	(void)code;
	return -EOPNOTSUPP;
}

uint64_t machine_answer_addr(const struct machine_code *code)
{
	(void)code;
	return 0;
}

const uint8_t *machine_stub(size_t *ret_bytes)
{
	*ret_bytes = 0;
	return NULL;
}

int machine_begin_stub(int tid, const struct machine_state *state,
		       const struct machine_code *code)
{
	(void)tid;
	(void)state;
	(void)code;
	return -EOPNOTSUPP;
}

int machine_restore_vectors_and_mask(int tid, const struct machine_state *state)
{
	(void)tid;
	(void)state;
	return -EOPNOTSUPP;
}

int machine_restore_registers(int tid, const struct machine_state *state)
{
	(void)tid;
	(void)state;
	return -EOPNOTSUPP;
}

size_t machine_jump(int32_t distance, uint8_t ret[MACHINE_JUMP_MAX])
{
	(void)distance;
	(void)ret;
	return 0;
}

int machine_block_signals(int tid)
{
	(void)tid;
	return -EOPNOTSUPP;
}

#endif
