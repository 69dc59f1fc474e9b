/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_names - names of the threads that the hooks count: code in the process does not ask
 * the kernel for them, as a seccomp filter may forbid it.
 */
#ifndef MS_PROBE_HOOKS_NAMES_H
#define MS_PROBE_HOOKS_NAMES_H

#include "agent/count_abi.h"

/* Name each thread in counts that is alive and has no name yet. */
void hooks_name_threads(struct count_head *counts, int process_fd, int pid);

#endif
