/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * safe_point - may this thread, as it stands, be borrowed for a system call? For a call
 * of pthread_create()?
 *
 * The latter if it holds no lock that the call needs. Code that unlocks follows the call
 * of what it guards, so whoever holds one has a return address into that code on its
 * stack, or is in it.
 */
#ifndef MS_PROBE_SAFE_POINT_H
#define MS_PROBE_SAFE_POINT_H

#include "model/mapping.h"
#include "probe/landmarks.h"
#include "probe/machine.h"

struct safe_point {
	const struct landmarks *marks;
	const struct mapping_list *mappings;
	int pid;
};

/*
 * state is that of the thread, which stands. Returns 0; -EAGAIN with *ret_reason, static:
 * it may be at another moment;
 * -errno.
 */
int safe_point_check(const struct safe_point *where, int tid, const struct machine_state *state,
		     const char **ret_reason);
int safe_point_check_locks(const struct safe_point *where, int tid,
			   const struct machine_state *state, const char **ret_reason);

#endif
