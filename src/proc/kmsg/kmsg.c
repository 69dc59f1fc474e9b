/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define RECORD_BYTES_MAX 8192

int proc_kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * Each read() returns one record. EPIPE means that the next record was overwritten before
 * it could be read; another read() returns the oldest remaining record.
 */
void proc_kmsg_read(int fd, size_t limit, struct strbuf *out)
{
	char record[RECORD_BYTES_MAX];
	size_t end = out->length + limit;

	while (out->length < end) {
		ssize_t n = read(fd, record, sizeof(record));

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			return;
		strbuf_add(out, record, (size_t)n);
	}
}
