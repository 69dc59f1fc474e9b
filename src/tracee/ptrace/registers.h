/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers - read the registers of a stopped thread. */
#ifndef MS_TRACEE_PTRACE_REGISTERS_H
#define MS_TRACEE_PTRACE_REGISTERS_H

#include "tracee/ptrace/stop.h"

/*
 * Read the registers of a stopped thread that the caller traces. ret_words has room for
 * STOP_WORDS_MAX words. Return 0; -ESRCH if the thread is no longer stopped; -EOPNOTSUPP
 * for a 32-bit program or on machines other than x86-64; or another -errno.
 */
int registers_read(int tid, struct stopped_thread *ret, uint64_t *ret_words,
		   size_t *ret_word_count);

#endif
