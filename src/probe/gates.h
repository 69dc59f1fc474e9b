/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gates - what must be so before a process is touched at all. Nothing here stops or changes it.
 */
#ifndef MS_PROBE_GATES_H
#define MS_PROBE_GATES_H

#include "probe/request.h"

#define GATES_NOT_ALLOWED                                                                      \
	"the kernel lets only its owner, or one with CAP_SYS_PTRACE, trace it, as far as "     \
	"kernel.yama.ptrace_scope allows that"

#define GATES_NO_DESCRIPTORS \
	"memstate cannot open more files: RLIMIT_NOFILE, or fs.file-max, is reached"

/*
 * process_fd is the process's directory in /proc. Returns 0; or as probe_open(), with
 * *ret_reason, static.
 */
int gates_check(const struct probe_request *request, int process_fd, const char **ret_reason);

/* Why a file of the process could not be opened or read: -errno in words, static. */
const char *gates_error_text(int error);

#endif
