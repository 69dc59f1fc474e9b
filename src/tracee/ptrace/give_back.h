/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * give_back - counts how often processes give memory back to the kernel: munmap(2), and
 * madvise(2) with MADV_DONTNEED or MADV_FREE. The kernel counts, by perf_event_open(2) on
 * its tracepoints; the process does nothing for it.
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
 * Count from now on, of a process and of all that it will start. Returns 0, or -errno:
 * -ENOENT where tracefs is not mounted at its usual places, -EACCES and -EPERM where that
 * is not allowed; it then counts nothing.
 */
int give_back_begin(struct give_back *give_back, int pid);

/* So far, also of those that have ended. BYTES_UNKNOWN if it does not count. */
uint64_t give_back_read(const struct give_back *give_back);
void give_back_end(struct give_back *give_back);

#endif
