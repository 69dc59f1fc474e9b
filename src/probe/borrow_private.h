/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow_private - what borrow's own files share.
 */
#ifndef MS_PROBE_BORROW_PRIVATE_H
#define MS_PROBE_BORROW_PRIVATE_H

#include "probe/borrow.h"
#include "target/trace.h"

/* Note why. Returns error. */
int borrow_fail(struct borrow *b, int error, const char *reason);

/* As trace_wait(), counted; -ESRCH if the thread has ended. */
int borrow_wait(struct borrow *b, uint64_t limit_ns, enum trace_event *ret, int *ret_signal);

void borrow_let_go(struct borrow *b, int signal);

#endif
