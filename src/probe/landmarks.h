/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landmarks - where things are in a process that runs: functions to call, and code in
 * which a thread must not be borrowed. All of it from the files that the process itself
 * has mapped, whatever their paths lead to by now.
 */
#ifndef MS_PROBE_LANDMARKS_H
#define MS_PROBE_LANDMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/abi.h"
#include "model/mapping.h"
#include "probe/code_tables.h"

struct code_range {
	uint64_t start_addr, end_addr;
};

#define LANDMARKS_LIBC_MAX 8

struct landmarks {
	struct agent_functions functions; /* what the helper calls */
	uint64_t pthread_create_addr;
	uint64_t syscall_addr;	 /* a system call and a return */
	uint64_t sigreturn_addr; /* rt_sigreturn(2), libc's own return from a handler */
	/*
	 * Allocators, the dynamic linker, and what holds a lock that a new thread needs.
	 * By address.
	 */
	struct code_range *ranges;
	size_t range_count, range_capacity;
	/*
	 * All code of libc, which does some of its work with a lock held in functions that
	 * it does not export.
	 */
	struct code_range libc[LANDMARKS_LIBC_MAX];
	size_t libc_count;
	struct code_tables tables; /* only of landmarks_read() */
	bool wants_tables;
	/*
	 * A file other than libc has a malloc, and no function of it reports figures: those
	 * of libc are not the program's.
	 */
	bool has_other_malloc;
};

#define LANDMARKS_INIT { .ranges = NULL }

/*
 * process_fd is the process's directory in /proc. Returns 0; -EOPNOTSUPP or -ENOSYS with
 * *ret_reason, static; -errno.
 */
int landmarks_read(int process_fd, const struct mapping_list *mappings, struct landmarks *ret,
		   const char **ret_reason);

/* Likewise, where no helper is put in: a process whose allocator tells no figures will do. */
int landmarks_read_code(int process_fd, const struct mapping_list *mappings,
			struct landmarks *ret, const char **ret_reason);
void landmarks_release(struct landmarks *marks);

/* Is the address in one of the ranges? */
bool landmarks_hold(const struct landmarks *marks, uint64_t addr);

/* Is the address in the code of libc? */
bool landmarks_in_libc(const struct landmarks *marks, uint64_t addr);

#endif
