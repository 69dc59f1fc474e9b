/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * release_calls - count how often processes release memory to the kernel with munmap(2),
 * or with MADV_DONTNEED or MADV_FREE of madvise(2). The kernel counts the calls at its
 * tracepoints (perf_event_open(2)), so that no additional code runs in the process.
 */
#ifndef MS_TRACEE_PTRACE_RELEASE_CALLS_H
#define MS_TRACEE_PTRACE_RELEASE_CALLS_H

#include <stdint.h>

#define RELEASE_CALL_COUNT 2

struct release_calls {
	int fds[RELEASE_CALL_COUNT];
};

#define RELEASE_CALLS_INIT     \
	{                      \
		{              \
			-1, -1 \
		}              \
	}

/*
 * Start counting the calls of a process and of all processes that it starts from now on.
 * Return 0 or -errno: -ENOENT if tracefs is not mounted at a usual place, -EACCES or
 * -EPERM if the kernel does not allow the counting. After an error, nothing is counted.
 */
int release_calls_begin(struct release_calls *release_calls, int pid);

/*
 * Return the number of calls so far, including those of processes that have ended. Return
 * BYTES_UNKNOWN if nothing is counted.
 */
uint64_t release_calls_read(const struct release_calls *release_calls);
void release_calls_end(struct release_calls *release_calls);

#endif
