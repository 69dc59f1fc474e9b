/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/registers.h"

#include <errno.h>

#if defined(__x86_64__)

#	include <elf.h>
#	include <string.h>
#	include <sys/ptrace.h>
#	include <sys/uio.h>
#	include <sys/user.h>

#	define GENERAL_WORDS (sizeof(struct user_regs_struct) / sizeof(uint64_t))

/*
 * Number of words to read from the XSAVE area. In every format of the area, the x87, SSE,
 * AVX and AVX-512 registers end before byte 2700. The large AMX tile registers, which may
 * follow, contain no addresses.
 */
#	define VECTOR_WORDS (STOP_WORDS_MAX - GENERAL_WORDS)

/*
 * Number of words in the first 32 bytes of FXSAVE, which contain control words and
 * addresses of x87 code.
 */
#	define CONTROL_WORDS 4

static size_t keep_words(const uint64_t *from, size_t count, uint64_t *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (from[i] != 0)
			ret[kept++] = from[i];
	return kept;
}

/*
 * Read the vector registers, and return the number of words read. Return 0 on a machine
 * without XSAVE, where only general registers hold addresses.
 */
static size_t read_vectors(int tid, uint64_t *ret)
{
	uint64_t area[VECTOR_WORDS];
	struct iovec io = { area, sizeof(area) };
	size_t count;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &io) < 0)
		return 0;
	count = io.iov_len / sizeof(area[0]);
	return count > CONTROL_WORDS
		       ? keep_words(area + CONTROL_WORDS, count - CONTROL_WORDS, ret)
		       : 0;
}

int registers_read(int tid, struct stopped_thread *ret, uint64_t *ret_words,
		   size_t *ret_word_count)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };
	uint64_t general[GENERAL_WORDS];

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) < 0)
		return errno == ESRCH ? -ESRCH : -errno;
	if (io.iov_len != sizeof(regs)) /* the thread runs a 32-bit program */
		return -EOPNOTSUPP;
	memcpy(general, &regs, sizeof(general));
	*ret_word_count = keep_words(general, GENERAL_WORDS, ret_words);
	*ret_word_count += read_vectors(tid, ret_words + *ret_word_count);
	*ret = (struct stopped_thread){ .tid = tid,
					.code_addr = regs.rip,
					.stack_addr = regs.rsp,
					.tls_addr = regs.fs_base };
	return 0;
}

#else

int registers_read(int tid, struct stopped_thread *ret, uint64_t *ret_words,
		   size_t *ret_word_count)
{
	(void)tid;
	(void)ret;
	(void)ret_words;
	(void)ret_word_count;
	return -EOPNOTSUPP;
}

#endif
