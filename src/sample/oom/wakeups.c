/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/wakeups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "proc/cgroup/events.h"
#include "proc/kmsg/kmsg.h"

#define LOG_BYTES_MAX ((size_t)256 << 10)
#define EVENTS_MAX 8

/*
 * Percentages of the limit for which cgroup v1 notifies memstate when the usage exceeds
 * them. cgroup v2 has no such notification.
 */
static const unsigned int limit_percents[] = { 80, 90, 95, 98 };

/* wake-up flags for each kind of cgroup event */
static const unsigned int wake_flags[] = {
	[CGROUP_EVENT_OOM] = OOM_WAKE_OOM,
	[CGROUP_EVENT_USAGE] = OOM_WAKE_LIMIT,
	[CGROUP_EVENT_COUNTS] = OOM_WAKE_LIMIT,
	[CGROUP_EVENT_PRESSURE] = OOM_WAKE_PRESSURE,
};

struct oom_wakeups {
	struct cgroup_mount mount;
	struct oom_marks *marks;
	int log_fd;
	struct strbuf log;
	struct cgroup_event events[EVENTS_MAX];
	size_t event_count;
	/* true if the event sources of a cgroup and of its limit's owner are open */
	bool has_group;
	size_t owner;
	uint64_t limit_bytes;
	int errors[OOM_SOURCE_COUNT_];
	/*
	 * descriptors of cgroup events, mark_victim events and the kernel log, and the
	 * caller's other_fd
	 */
	struct pollfd *polled;
	size_t polled_capacity;
};

int oom_wakeups_open(const struct procfs *fs, struct oom_wakeups **ret)
{
	struct oom_wakeups *w = xcalloc(1, sizeof(*w));
	int r = cgroup_mount_find(fs, &w->mount);

	if (r < 0) {
		free(w);
		return r;
	}
	w->errors[OOM_SOURCE_MARKS] = oom_marks_open(&w->marks);
	w->log_fd = proc_kmsg_open();
	w->errors[OOM_SOURCE_LOG] = w->log_fd < 0 ? w->log_fd : 0;
	*ret = w;
	return 0;
}

static void close_events(struct oom_wakeups *w)
{
	while (w->event_count > 0)
		cgroup_event_close(&w->events[--w->event_count]);
}

void oom_wakeups_close(struct oom_wakeups *w)
{
	if (!w)
		return;
	close_events(w);
	oom_marks_close(w->marks);
	if (w->log_fd >= 0)
		close(w->log_fd);
	cgroup_mount_release(&w->mount);
	strbuf_release(&w->log);
	free(w->polled);
	free(w);
}

/*
 * Start to watch an event of the cgroup. A missing event is not an error, because kernels
 * and cgroup versions differ.
 */
static void add_event(struct oom_wakeups *w, const char *path,
		      enum cgroup_event_kind kind, uint64_t bytes)
{
	int r;

	if (w->event_count == EVENTS_MAX)
		return;
	r = cgroup_event_open(&w->mount, path, kind, bytes, &w->events[w->event_count]);
	if (r == 0)
		w->event_count++;
	else if (r != -EOPNOTSUPP && kind != CGROUP_EVENT_PRESSURE)
		w->errors[OOM_SOURCE_EVENTS] = r;
}

/*
 * Watch the cgroup and the owner of its limit. In cgroup v1, a cgroup is also notified
 * when an ancestor is out of memory. cgroup v2 counts a kill in the victim's cgroup, but
 * counts the events before the kill in the cgroup that owns the limit.
 */
void oom_wakeups_set_group(struct oom_wakeups *w, const struct cgroup *cgroup)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	const char *path = cgroup->levels[0].path;

	if (w->has_group && w->owner == cgroup->tightest &&
	    w->limit_bytes == cgroup_limit_bytes(cgroup))
		return;
	close_events(w);
	w->has_group = true;
	w->owner = cgroup->tightest;
	w->limit_bytes = cgroup_limit_bytes(cgroup);
	w->errors[OOM_SOURCE_EVENTS] = 0;
	add_event(w, path, CGROUP_EVENT_OOM, 0);
	add_event(w, path, CGROUP_EVENT_COUNTS, 0);
	if (owner && w->owner != 0)
		add_event(w, owner->path, CGROUP_EVENT_COUNTS, 0);
	add_event(w, owner ? owner->path : path, CGROUP_EVENT_PRESSURE, 0);
	for (size_t i = 0;
	     owner && i < sizeof(limit_percents) / sizeof(limit_percents[0]); i++)
		add_event(w, owner->path, CGROUP_EVENT_USAGE,
			  owner->limit_bytes / 100 * limit_percents[i]);
}

int oom_wakeups_error(const struct oom_wakeups *w, enum oom_source source)
{
	return w->errors[source];
}

struct pollfd *oom_wakeups_polled(struct oom_wakeups *w, int other_fd, size_t *ret_count)
{
	size_t marks = oom_marks_count(w->marks), count = w->event_count + marks + 2;

	w->polled = xgrow(w->polled, &w->polled_capacity, count, sizeof(*w->polled));
	for (size_t i = 0; i < w->event_count; i++)
		w->polled[i] = (struct pollfd){ .fd = w->events[i].fd,
						.events = w->events[i].polled };
	for (size_t i = 0; i < marks; i++)
		w->polled[w->event_count + i] =
			(struct pollfd){ .fd = oom_marks_fd(w->marks, i),
					 .events = POLLIN };
	w->polled[count - 2] = (struct pollfd){ .fd = w->log_fd, .events = POLLIN };
	w->polled[count - 1] = (struct pollfd){ .fd = other_fd, .events = POLLIN };
	*ret_count = count;
	return w->polled;
}

/*
 * Handle the events that have occurred. Close the files of a removed cgroup, because
 * poll(2) would report them forever.
 */
static void handle_events(struct oom_wakeups *w, struct oom_wake *wake)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->event_count; i++) {
		struct cgroup_event event = w->events[i];
		int r = 0;

		if (w->polled[i].revents) {
			wake->flags |= wake_flags[event.kind];
			r = cgroup_event_consume(&event);
		}
		if (r < 0)
			cgroup_event_close(&event);
		else
			w->events[kept++] = event;
	}
	w->event_count = kept;
}

void oom_wakeups_read_log(struct oom_wakeups *w)
{
	if (w->log_fd >= 0)
		proc_kmsg_read(w->log_fd, LOG_BYTES_MAX - w->log.length, &w->log);
}

void oom_wakeups_collect(struct oom_wakeups *w, struct oom_wake *ret)
{
	size_t log_index = w->event_count + oom_marks_count(w->marks);
	struct oom_wake wake = { 0 };

	if (w->polled[log_index].revents) {
		oom_wakeups_read_log(w);
		wake.flags |= OOM_WAKE_LOG;
	}
	while (wake.mark_count < OOM_WAKE_MARKS_MAX &&
	       oom_marks_read(w->marks, &wake.marks[wake.mark_count]))
		wake.mark_count++;
	handle_events(w, &wake);
	*ret = wake;
}

void oom_wakeups_wait_for_log(const struct oom_wakeups *w, int ms)
{
	struct pollfd polled = { .fd = w->log_fd, .events = POLLIN };

	(void)poll(&polled, 1, ms);
}

struct strbuf *oom_wakeups_log(struct oom_wakeups *w)
{
	return &w->log;
}
