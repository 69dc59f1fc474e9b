/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight_left.h"

#include "base/units.h"

/* Maximum time between the kill of a process and the sample that no longer lists it. */
#define NEAR_NS (10 * NS_PER_S)
/* Maximum error of the time of a kill in the kernel log. */
#define CLOCK_ERROR_NS (20 * NS_PER_MS)

void flight_left_add(struct flight_left *left, const struct cgroup *before,
		     const struct cgroup *after, uint64_t now_ns)
{
	size_t at = 0;

	for (size_t i = 0; i < before->pid_count; i++) {
		while (at < after->pid_count && after->pids[at] < before->pids[i])
			at++;
		if (at == after->pid_count || after->pids[at] != before->pids[i])
			left->items[left->count++ % FLIGHT_LEFT_MAX] =
				(struct flight_left_pid){ before->pids[i], now_ns };
	}
}

bool flight_left_has(const struct flight_left *left, int pid, uint64_t killed_ns)
{
	size_t count = left->count < FLIGHT_LEFT_MAX ? left->count : FLIGHT_LEFT_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct flight_left_pid *item = &left->items[i];

		if (item->pid == pid && killed_ns < item->noticed_ns + CLOCK_ERROR_NS &&
		    killed_ns + NEAR_NS > item->noticed_ns)
			return true;
	}
	return false;
}
