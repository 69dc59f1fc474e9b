/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/oom.h"
#include "proc/kmsg/printk_clock.h"

#define PART_BYTES ((size_t)256 << 10)

int kmsg_log_read(int fd, struct oom_kill_list *list)
{
	struct kmsg_oom *parser = kmsg_oom_begin(list);
	char *part = xcalloc(1, PART_BYTES);
	ssize_t n;
	int r = 0;

	for (;;) {
		n = read(fd, part, PART_BYTES);
		if (n > 0)
			kmsg_oom_add(parser, part, (size_t)n);
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (n < 0)
		r = -errno;
	kmsg_oom_end(parser);
	free(part);
	return r;
}

/*
 * Each read() returns one record. The error EPIPE means that the kernel has overwritten
 * the next record; the read() after it returns the oldest remaining record.
 */
static int read_records(int fd, struct kmsg_oom *parser)
{
	char record[8192];

	for (;;) {
		ssize_t n = read(fd, record, sizeof(record));

		if (n > 0)
			kmsg_oom_add(parser, record, (size_t)n);
		else if (n == 0)
			return 0;
		else if (errno != EPIPE && errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	}
}

int kmsg_log_read_device(struct oom_kill_list *list)
{
	_cleanup_close_ int fd = open(KMSG_DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct kmsg_oom *parser;
	uint64_t now_ms, now_ns;
	int64_t ahead_ns;
	int r;

	if (fd < 0)
		return -errno;
	parser = kmsg_oom_begin(list);
	r = read_records(fd, parser);
	kmsg_oom_end(parser);
	ahead_ns = printk_clock_ahead_ns();
	now_ms = clock_unix_ms();
	now_ns = clock_now_ns();
	for (size_t i = 0; i < list->count; i++) {
		struct oom_time *t = &list->items[i].time;

		uint64_t ns;

		if (t->unix_ms != 0 || t->boot_us == COUNT_UNKNOWN)
			continue;
		ns = printk_clock_to_monotonic_ns(t->boot_us, ahead_ns);
		if (ns <= now_ns)
			t->unix_ms = now_ms - (now_ns - ns) / NS_PER_MS;
	}
	return r;
}
