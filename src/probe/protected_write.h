/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protected_write - write private memory of a running process, also where the process
 * itself has no write permission.
 */
#ifndef MS_PROBE_PROTECTED_WRITE_H
#define MS_PROBE_PROTECTED_WRITE_H

#include <stddef.h>
#include <stdint.h>

struct protected_target {
	int pid;
	int process_fd; /* its directory in /proc */
	int mem_fd;	/* its mem, opened for writing */
};

/*
 * Write through mem_fd; where the kernel allows that only to a tracer, stop all threads for
 * it. Other threads may see the bytes in any order. Returns 0 or -errno.
 */
int protected_write(const struct protected_target *target, uint64_t addr, const void *from,
		    size_t length);

#endif
