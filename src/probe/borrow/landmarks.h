/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landmarks - find addresses in a running process: functions that memstate may call, and
 * code in which it must not stop a thread. All addresses come from the files that the
 * process has mapped, even if their paths now refer to other files.
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
	/* addresses of the functions that the injected helper calls */
	struct agent_functions functions;
	uint64_t pthread_create_addr;
	/* address of a syscall instruction that is followed by a return */
	uint64_t syscall_addr;
	/*
	 * address of the code in libc that calls rt_sigreturn(2) after a signal handler
	 */
	uint64_t sigreturn_addr;
	/*
	 * Code ranges of allocators, of the dynamic linker, and of functions that hold a
	 * lock which a new thread needs, sorted by address.
	 */
	struct code_range *ranges;
	size_t range_count, range_capacity;
	/*
	 * All code of libc. In some cases, memstate must not stop a thread anywhere in
	 * this code, because libc contains functions that it does not export and that
	 * hold a lock.
	 */
	struct code_range libc[LANDMARKS_LIBC_MAX];
	size_t libc_count;
	/* unwind tables of the mapped files, set only by landmarks_read() */
	struct code_tables tables;
	bool wants_tables;
	/*
	 * True if a file other than libc defines malloc, and this file has no function
	 * that reports the allocator's figures. The figures of libc's malloc then do not
	 * describe the program's memory.
	 */
	bool has_other_malloc;
};

#define LANDMARKS_INIT         \
	{                      \
		.ranges = NULL \
	}

/*
 * Find the functions that memstate may call in a process, and the code ranges in which
 * it must not stop a thread. process_fd is a descriptor of /proc/PID. Return 0;
 * -EOPNOTSUPP or -ENOSYS with *ret_reason, a static string; or another -errno.
 */
int landmarks_read(int process_fd, const struct mapping_list *mappings,
		   struct landmarks *ret, const char **ret_reason);

/*
 * Like landmarks_read(), for callers that do not inject a helper: an allocator that
 * cannot report figures is not an error.
 */
int landmarks_read_code(int process_fd, const struct mapping_list *mappings,
			struct landmarks *ret, const char **ret_reason);
void landmarks_release(struct landmarks *marks);

/* Return true if the address is in one of marks->ranges. */
bool landmarks_hold(const struct landmarks *marks, uint64_t addr);

/* Return true if the address is in libc's code. */
bool landmarks_in_libc(const struct landmarks *marks, uint64_t addr);

#endif
