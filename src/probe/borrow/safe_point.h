/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * safe_point - decide whether a stopped thread may be used for a system call or for a
 * call to pthread_create().
 *
 * For pthread_create(), the thread must not hold a lock that the call needs. A function
 * that takes such a lock also releases it, so while the lock is held, that function is
 * in the thread's call chain. If the unwind tables do not yield the call chain, every
 * word of the stack is checked.
 */
#ifndef MS_PROBE_BORROW_SAFE_POINT_H
#define MS_PROBE_BORROW_SAFE_POINT_H

#include "model/mapping.h"
#include "probe/borrow/landmarks.h"
#include "probe/borrow/machine.h"

struct safe_point {
	const struct landmarks *marks;
	const struct mapping_list *mappings;
	int pid;
};

/*
 * Check whether a stopped thread with the given state may be used. For a system call,
 * safe_point_check() suffices; for a call to pthread_create(), call
 * safe_point_check_locks() too. Return 0; -EAGAIN with *ret_reason, a static string, if
 * another moment may be safe; or another -errno.
 */
int safe_point_check(const struct safe_point *where, int tid,
		     const struct machine_state *state, const char **ret_reason);
int safe_point_check_locks(const struct safe_point *where, int tid,
			   const struct machine_state *state, const char **ret_reason);

#endif
