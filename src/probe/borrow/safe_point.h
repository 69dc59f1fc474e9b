/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * safe_point - decide whether a stopped thread may be borrowed for a system call, or for
 * a call of pthread_create().
 *
 * For pthread_create() the thread must hold no lock that the call needs. Code that
 * unlocks follows the code that the lock guards: a thread that holds a lock is in the
 * function that took the lock, or in a function called from there. Its call chain
 * therefore shows the function. If the unwind tables do not show the chain, every
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
 * Check a stopped thread; state is its state. The first function is sufficient for a
 * system call; for pthread_create() call both. Return 0; -EAGAIN with *ret_reason
 * (static) if another moment may be safe; -errno.
 */
int safe_point_check(const struct safe_point *where, int tid,
		     const struct machine_state *state, const char **ret_reason);
int safe_point_check_locks(const struct safe_point *where, int tid,
			   const struct machine_state *state, const char **ret_reason);

#endif
