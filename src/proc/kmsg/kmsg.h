/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg - read new messages from the kernel log, in the format of /dev/kmsg.
 */
#ifndef MS_PROC_KMSG_KMSG_H
#define MS_PROC_KMSG_KMSG_H

#include "base/strbuf.h"

/*
 * Open the kernel log at its end. poll(2) then reports POLLIN when there are new
 * messages. Return a descriptor that the caller closes, or -errno: -EPERM or -EACCES if
 * only root may read the log.
 */
int proc_kmsg_open(void);

/*
 * Append the new records to *out, in the format of /dev/kmsg, until about `limit` bytes
 * have been added. The last record may exceed the limit by up to 8 KiB.
 */
void proc_kmsg_read(int fd, size_t limit, struct strbuf *out);

/*
 * Append the messages of the records, each on its own line, without their prefixes
 * ("6,1234,5678901,-;"). Within a record, lines that begin with a space are skipped,
 * because they are properties such as "DEVICE=b8:0". Lines outside records are appended
 * unchanged.
 */
void proc_kmsg_add_messages(const char *records, struct strbuf *out);

#endif
