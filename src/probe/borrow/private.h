/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private - internal functions that the source files of the borrow module share. */
#ifndef MS_PROBE_BORROW_PRIVATE_H
#define MS_PROBE_BORROW_PRIVATE_H

#include "base/units.h"
#include "probe/borrow/borrow.h"
#include "tracee/ptrace/trace.h"

/* Maximum time to wait for an interrupted thread to stop. */
#define BORROW_STOP_LIMIT_NS NS_PER_S

/* Set b->reason to `reason`, and return `error`. */
int borrow_fail(struct borrow *b, int error, const char *reason);

/*
 * Like trace_wait(), but also add the duration of the stop to b->cost. Return -ESRCH if
 * the thread has ended.
 */
int borrow_wait(struct borrow *b, uint64_t limit_ns, enum trace_event *ret,
		int *ret_signal);

void borrow_resume(struct borrow *b, int signal);

#endif
