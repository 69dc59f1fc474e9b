/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gates - check whether memstate may stop or change a process. The checks themselves
 * neither stop nor change the process.
 */
#ifndef MS_PROBE_BORROW_GATES_H
#define MS_PROBE_BORROW_GATES_H

#include "probe/borrow/request.h"

#define GATES_NOT_ALLOWED                                                            \
	"only its owner, or a process with CAP_SYS_PTRACE, may trace it, as far as " \
	"kernel.yama.ptrace_scope permits"

#define GATES_NO_DESCRIPTORS \
	"memstate cannot open more files: RLIMIT_NOFILE or fs.file-max has been reached"

/*
 * Check whether memstate may stop or change a process. process_fd is a descriptor of
 * /proc/PID. Return 0 or the same errors as probe_open(), with *ret_reason set to a
 * static string.
 */
int gates_check(const struct probe_request *request, int process_fd,
		const char **ret_reason);

/*
 * Open the memory of a process for reading and writing, which requires the same
 * privileges as tracing the process. Return a descriptor, which the caller closes, or the
 * same errors as probe_open(), with *ret_reason set to a static string.
 */
int gates_open_memory(int process_fd, const char **ret_reason);

/*
 * Return a static string that explains why a file of the process could not be opened or
 * read. `error` is the -errno of the failed call.
 */
const char *gates_error_text(int error);

#endif
