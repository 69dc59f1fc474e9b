/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_names - set the names of the threads whose calls the hooks count. The hooks
 * themselves do not request the names from the kernel, because a seccomp filter may
 * forbid the system call.
 */
#ifndef MS_PROBE_COUNT_HOOKS_NAMES_H
#define MS_PROBE_COUNT_HOOKS_NAMES_H

#include "agent/count/abi.h"

/* Set the name of each living thread that has no name in the counts yet. */
void hooks_name_threads(struct count_head *counts, int process_fd, int pid);

#endif
