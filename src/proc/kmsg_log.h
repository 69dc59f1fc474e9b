/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_log - reports of kills out of a whole log: a file of any size, or the kernel's own.
 */
#ifndef MS_PROC_KMSG_LOG_H
#define MS_PROC_KMSG_LOG_H

#include "model/oom_kill.h"

#define KMSG_DEVICE "/dev/kmsg"

/* Add what an open file has up to its end. Returns 0 or -errno. */
int kmsg_log_read(int fd, struct oom_kill_list *list);

/* The same of this machine's log, with the times of day. */
int kmsg_log_read_device(struct oom_kill_list *list);

#endif
