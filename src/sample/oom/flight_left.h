/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_left - remember the processes that left a recorded cgroup recently. When many
 * processes are killed, the kernel logs only the pids of some victims, and such a victim
 * may have left the cgroup before its line in the kernel log is read.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_LEFT_H
#define MS_SAMPLE_OOM_FLIGHT_LEFT_H

#include <stdbool.h>

#include "model/cgroup.h"

#define FLIGHT_LEFT_MAX 4096

struct flight_left_pid {
	int pid;
	/* time of the first sample that no longer contained the process */
	uint64_t noticed_ns;
};

struct flight_left {
	/*
	 * the processes that left most recently; process number n is stored in
	 * items[n % FLIGHT_LEFT_MAX]
	 */
	struct flight_left_pid items[FLIGHT_LEFT_MAX];
	uint64_t count; /* number of processes that have left so far */
};

/*
 * Add the pids of `before` that `after` lacks. Both pid lists must be in ascending order.
 * now_ns is the time at which `after` was read.
 */
void flight_left_add(struct flight_left *left, const struct cgroup *before,
		     const struct cgroup *after, uint64_t now_ns);

/*
 * Return true if a process that was killed at the given time may have left the cgroup for
 * that reason: it was in the cgroup until the kill or later, and left it within a few
 * seconds, which is too short for the kernel to use its pid again.
 */
bool flight_left_has(const struct flight_left *left, int pid, uint64_t killed_ns);

#endif
