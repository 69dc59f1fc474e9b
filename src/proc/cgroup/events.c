/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/events.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/strbuf.h"

/*
 * Trigger for memory.pressure: stalls of 0.1 s within a window of 2 s, in us.
 * Unprivileged users may use only windows that are multiples of 2 s.
 */
#define PRESSURE_TRIGGER "some 100000 2000000"

static const struct {
	enum cgroup_version version;
	const char *file;
} sources[] = {
	[CGROUP_EVENT_OOM] = { CGROUP_V1, "memory.oom_control" },
	[CGROUP_EVENT_USAGE] = { CGROUP_V1, "memory.usage_in_bytes" },
	[CGROUP_EVENT_COUNTS] = { CGROUP_V2, "memory.events" },
	[CGROUP_EVENT_PRESSURE] = { CGROUP_V2, "memory.pressure" },
};

static int open_file(const struct cgroup_mount *mount, const char *path, const char *file,
		     int flags)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	int fd;

	strbuf_addf(&name, "%s%s/%s", mount->dir, strcmp(path, "/") == 0 ? "" : path,
		    file);
	fd = open(name.text, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Register a v1 event: write "EVENT_FD FILE_FD ARGUMENT" to the cgroup's control file. */
static int register_v1(int control_fd, const struct cgroup_event *event, uint64_t bytes)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "%d %d ", event->fd, event->watched_fd);
	if (event->kind == CGROUP_EVENT_USAGE)
		strbuf_add_u64(&line, bytes);
	return io_write_all(control_fd, line.text, line.length);
}

static int open_v1(const struct cgroup_mount *mount, const char *path, uint64_t bytes,
		   struct cgroup_event *event)
{
	_cleanup_close_ int control_fd =
		open_file(mount, path, "cgroup.event_control", O_WRONLY);

	if (control_fd < 0)
		return control_fd;
	event->watched_fd = open_file(mount, path, sources[event->kind].file, O_RDONLY);
	if (event->watched_fd < 0)
		return event->watched_fd;
	event->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	event->polled = POLLIN;
	return event->fd < 0 ? -errno : register_v1(control_fd, event, bytes);
}

static int open_v2(const struct cgroup_mount *mount, const char *path,
		   struct cgroup_event *event)
{
	bool is_pressure = event->kind == CGROUP_EVENT_PRESSURE;

	event->fd = open_file(mount, path, sources[event->kind].file,
			      (is_pressure ? O_RDWR : O_RDONLY) | O_NONBLOCK);
	event->polled = POLLPRI;
	if (event->fd < 0)
		return event->fd;
	/*
	 * the written length includes the terminating NUL, which the kernel expects
	 * (kernel/sched/psi.c)
	 */
	if (is_pressure)
		return io_write_all(event->fd, PRESSURE_TRIGGER,
				    sizeof(PRESSURE_TRIGGER));
	/* discard events that happened before the source was opened */
	return cgroup_event_consume(event);
}

int cgroup_event_open(const struct cgroup_mount *mount, const char *path,
		      enum cgroup_event_kind kind, uint64_t bytes,
		      struct cgroup_event *ret)
{
	struct cgroup_event event = { .kind = kind, .fd = -1, .watched_fd = -1 };
	int r;

	if (sources[kind].version != mount->version)
		return -EOPNOTSUPP;
	r = mount->version == CGROUP_V1 ? open_v1(mount, path, bytes, &event)
					: open_v2(mount, path, &event);
	if (r < 0) {
		cgroup_event_close(&event);
		return r == -ENOENT ? -EOPNOTSUPP : r;
	}
	*ret = event;
	return 0;
}

void cgroup_event_close(struct cgroup_event *event)
{
	if (event->fd >= 0)
		close(event->fd);
	if (event->watched_fd >= 0)
		close(event->watched_fd);
	event->fd = event->watched_fd = -1;
}

int cgroup_event_consume(const struct cgroup_event *event)
{
	char bytes[1024];
	uint64_t count;

	if (event->polled == POLLIN)
		(void)!read(event->fd, &count, sizeof(count));
	else if (pread(event->fd, bytes, sizeof(bytes), 0) < 0)
		return -errno;
	return 0;
}
