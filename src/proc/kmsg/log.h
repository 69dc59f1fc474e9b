/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log - find all OOM reports in a kernel log: a file of any size, or this machine's log.
 */
#ifndef MS_PROC_KMSG_LOG_H
#define MS_PROC_KMSG_LOG_H

#include "model/oom_kill.h"

#define KMSG_DEVICE "/dev/kmsg"

/*
 * Parse an open log file to its end, and append its OOM kills to *list. Return 0 or
 * -errno.
 */
int kmsg_log_read(int fd, struct oom_kill_list *list);

/*
 * Parse the kernel log of this machine, and append its OOM kills to *list with wall-clock
 * times. Return 0 or -errno.
 */
int kmsg_log_read_device(struct oom_kill_list *list);

#endif
