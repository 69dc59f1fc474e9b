/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/release_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"

static const char *const folders[] = { "/sys/kernel/tracing",
				       "/sys/kernel/debug/tracing" };

static const struct {
	const char *event;
	/* tracepoint filter that selects the calls to count; NULL to count all calls */
	const char *filter;
} calls[RELEASE_CALL_COUNT] = {
	{ "sys_enter_munmap", NULL },
	{ "sys_enter_madvise",
	  /* behavior 4 is MADV_DONTNEED, 8 is MADV_FREE */
	  "behavior == 4 || behavior == 8" },
};

/* Read the id of a tracepoint, a decimal number, from its file in tracefs. */
static int read_id(const char *event, uint64_t *ret)
{
	int r = -ENOENT;

	for (size_t i = 0; r < 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_addf(&path, "%s/events/syscalls/%s/id", folders[i], event);
		r = io_read_file_at(AT_FDCWD, strbuf_text(&path), 64, &text);
		if (r == 0 && text.length > 0) {
			text.text[strcspn(text.text, "\n")] = '\0';
			r = num_parse_u64(text.text, ret);
		}
	}
	return r;
}

static int begin_call(size_t call, int pid, int *ret_fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.inherit = 1,
		.disabled = 1,
	};
	uint64_t id = 0;
	int fd, r;

	r = read_id(calls[call].event, &id);
	if (r < 0)
		return r;
	attr.config = id;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if ((calls[call].filter &&
	     ioctl(fd, PERF_EVENT_IOC_SET_FILTER, calls[call].filter) < 0) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int release_calls_begin(struct release_calls *g, int pid)
{
	*g = (struct release_calls)RELEASE_CALLS_INIT;
	for (size_t i = 0; i < RELEASE_CALL_COUNT; i++) {
		int r = begin_call(i, pid, &g->fds[i]);

		if (r < 0) {
			release_calls_end(g);
			return r;
		}
	}
	return 0;
}

uint64_t release_calls_read(const struct release_calls *g)
{
	uint64_t sum = 0, count;

	for (size_t i = 0; i < RELEASE_CALL_COUNT; i++) {
		if (g->fds[i] < 0 ||
		    read(g->fds[i], &count, sizeof(count)) != sizeof(count))
			return BYTES_UNKNOWN;
		sum += count;
	}
	return sum;
}

void release_calls_end(struct release_calls *g)
{
	for (size_t i = 0; i < RELEASE_CALL_COUNT; i++)
		cleanup_close(&g->fds[i]);
	*g = (struct release_calls)RELEASE_CALLS_INIT;
}
