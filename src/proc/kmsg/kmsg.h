/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg - read new messages from the kernel log, in the format of /dev/kmsg.
 */
#ifndef MS_PROC_KMSG_KMSG_H
#define MS_PROC_KMSG_KMSG_H

#include "base/strbuf.h"

/*
 * Open the kernel log at its end; poll(2) reports POLLIN when there are new
 * messages. Returns a descriptor that the caller closes, or -errno: -EPERM or
 * -EACCES if the log is restricted to root.
 */
int proc_kmsg_open(void);

/*
 * Append the new records to *out, in the format of /dev/kmsg, until about `limit` bytes
 * have been added. The last record may exceed the limit by up to 8 KiB.
 */
void proc_kmsg_read(int fd, size_t limit, struct strbuf *out);

/*
 * Append the messages of records, each on its line, without the prefixes
 * "6,1234,5678901,-;" and without the lines that begin with a blank, which name the
 * device. Other lines are appended unchanged.
 */
void proc_kmsg_add_messages(const char *records, struct strbuf *out);

#endif
