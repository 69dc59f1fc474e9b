/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protected_write - write to private memory of a running process, even where the process
 * itself has no write permission.
 */
#ifndef MS_PROBE_BORROW_PROTECTED_WRITE_H
#define MS_PROBE_BORROW_PROTECTED_WRITE_H

#include <stddef.h>
#include <stdint.h>

struct protected_target {
	int pid;
	int process_fd; /* descriptor of /proc/PID */
	int mem_fd;	/* /proc/PID/mem, opened for writing */
};

/*
 * Write through mem_fd. If the kernel allows only a tracer to write, stop all threads
 * during the write. Otherwise the threads keep running, and may see the bytes change in
 * any order. Return 0 or -errno.
 */
int protected_write(const struct protected_target *target, uint64_t addr,
		    const void *from, size_t length);

#endif
