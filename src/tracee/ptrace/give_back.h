/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * give_back - count how often processes release memory to the kernel with munmap(2), or
 * with madvise(2) and MADV_DONTNEED or MADV_FREE. The kernel counts the calls with
 * perf_event_open(2) on its tracepoints, which runs no code in the process.
 */
#ifndef MS_TRACEE_PTRACE_GIVE_BACK_H
#define MS_TRACEE_PTRACE_GIVE_BACK_H

#include <stdint.h>

#define GIVE_BACK_CALLS 2

struct give_back {
	int fds[GIVE_BACK_CALLS];
};

#define GIVE_BACK_INIT         \
	{                      \
		{              \
			-1, -1 \
		}              \
	}

/*
 * Start counting for a process and for all processes that it starts from now on. Return 0
 * or -errno: -ENOENT if tracefs is not mounted at a usual place, -EACCES or -EPERM if
 * counting is not allowed. After an error, nothing is counted.
 */
int give_back_begin(struct give_back *give_back, int pid);

/*
 * Return the number of calls so far, including those of processes that have ended. Return
 * BYTES_UNKNOWN if nothing is counted.
 */
uint64_t give_back_read(const struct give_back *give_back);
void give_back_end(struct give_back *give_back);

#endif
