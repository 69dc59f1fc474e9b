/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
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
 * Each read() returns one record. The error EPIPE means that the kernel has overwritten
 * the next record; the read() after it returns the oldest remaining record.
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

/* Return the end of a record's prefix, or `line` if there is no prefix. */
static const char *skip_prefix(const char *line)
{
	const char *at = line;

	/* skip the level with the facility, the sequence number and the time */
	for (int i = 0; i < 3; i++) {
		size_t digits = strspn(at, "0123456789");

		if (digits == 0 || at[digits] != ',')
			return line;
		at += digits + 1;
	}
	at += strcspn(at, ";\n");
	return *at == ';' ? at + 1 : line;
}

void proc_kmsg_add_messages(const char *records, struct strbuf *out)
{
	bool is_record = false;

	while (*records) {
		size_t length = strcspn(records, "\n");
		const char *text = skip_prefix(records);

		/*
		 * within a record, a line that begins with a space is a property such as
		 * "DEVICE=b8:0"; outside records, it is a message
		 */
		is_record = is_record || text != records;
		length += records[length] == '\n';
		if (!is_record || *records != ' ')
			strbuf_add(out, text, (size_t)(records + length - text));
		records += length;
	}
}
