/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landmarks - addresses in a running process: functions to call, and code in which a
 * thread must not be borrowed. All of them come from the files that the process itself
 * has mapped, whatever their paths refer to now.
 */
#ifndef MS_PROBE_BORROW_LANDMARKS_H
#define MS_PROBE_BORROW_LANDMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/helper/abi.h"
#include "model/mapping.h"
#include "probe/borrow/code_tables.h"

struct code_range {
	uint64_t start_addr, end_addr;
};

#define LANDMARKS_LIBC_MAX 8

struct landmarks {
	struct agent_functions functions; /* called by the helper */
	uint64_t pthread_create_addr;
	uint64_t syscall_addr; /* a syscall instruction followed by a return */
	/* rt_sigreturn(2): libc's return from a signal handler */
	uint64_t sigreturn_addr;
	/*
	 * Allocators, the dynamic linker, and functions that hold a lock which a new
	 * thread needs. Sorted by address.
	 */
	struct code_range *ranges;
	size_t range_count, range_capacity;
	/*
	 * All code of libc: some of its functions that are not exported hold a
	 * lock while they work.
	 */
	struct code_range libc[LANDMARKS_LIBC_MAX];
	size_t libc_count;
	struct code_tables tables; /* set only by landmarks_read() */
	bool wants_tables;
	/*
	 * A file other than libc has a malloc and no function that reports figures.
	 * libc's figures are then not the program's.
	 */
	bool has_other_malloc;
};

#define LANDMARKS_INIT         \
	{                      \
		.ranges = NULL \
	}

/*
 * Find the landmarks. process_fd is the process's directory in /proc. Return 0;
 * -EOPNOTSUPP or -ENOSYS with *ret_reason (static); -errno.
 */
int landmarks_read(int process_fd, const struct mapping_list *mappings,
		   struct landmarks *ret, const char **ret_reason);

/* The same if no helper will be put in: the allocator need not report figures. */
int landmarks_read_code(int process_fd, const struct mapping_list *mappings,
			struct landmarks *ret, const char **ret_reason);
void landmarks_release(struct landmarks *marks);

/* Return whether the address is in one of the ranges. */
bool landmarks_hold(const struct landmarks *marks, uint64_t addr);

/* Return whether the address is in libc's code. */
bool landmarks_in_libc(const struct landmarks *marks, uint64_t addr);

#endif
