/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers - what is in the registers of a thread that stands still.
 */
#ifndef MS_TRACEE_PTRACE_REGISTERS_H
#define MS_TRACEE_PTRACE_REGISTERS_H

#include "tracee/ptrace/stop.h"

/*
 * Read those of a thread that the caller traces and has stopped. words has room for
 * STOP_WORDS_MAX. Returns 0; -ESRCH if it does not stand still any more; -EOPNOTSUPP as
 * stop_run(); or another -errno.
 */
int registers_read(int tid, struct stopped_thread *ret, uint64_t *ret_words,
		   size_t *ret_word_count);

#endif
