/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * others - stop all threads of a process except the borrowed one, so that none of them
 * can observe or change what the borrowed thread does. All functions must be called
 * within trace_run().
 */
#ifndef MS_PROBE_TRACK_OTHERS_H
#define MS_PROBE_TRACK_OTHERS_H

#include <stddef.h>

#include "probe/borrow/borrow.h"

struct others {
	struct other {
		int tid;
		int signal; /* the pending signal for which the thread stopped, or 0 */
		bool is_stopped, has_ended;
	} * items;
	size_t count, capacity;
};

#define OTHERS_INIT        \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Stop the other threads, including new ones. Return 0; -EAGAIN with b->reason if a
 * thread does not stop soon; or another -errno. The caller calls others_release() in
 * every case.
 */
int others_hold(struct others *others, struct borrow *b);

/* Resume all threads that others_hold() has stopped. */
void others_release(struct others *others);

#endif
