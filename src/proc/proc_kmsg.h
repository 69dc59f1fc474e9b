/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_kmsg - what the kernel writes into its log from now on.
 */
#ifndef MS_PROC_PROC_KMSG_H
#define MS_PROC_PROC_KMSG_H

#include "base/strbuf.h"

/*
 * At the end of the log; poll(2) wakes on it with POLLIN. Returns a descriptor that the
 * caller closes, or -errno: -EPERM or -EACCES for all but root where that is wanted.
 */
int proc_kmsg_open(void);

/* Append the records that are new, as the device has them; at most `limit` bytes. */
void proc_kmsg_read(int fd, size_t limit, struct strbuf *out);

#endif
