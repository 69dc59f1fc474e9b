/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/perf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/count/close.h"
#include "probe/count/backend.h"
#include "probe/uprobe/guard.h"
#include "probe/uprobe/points.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"

/*
 * Maximum number of threads to count. Each thread requires one perf event per function.
 */
#define THREADS_MAX 4096

struct perf_thread {
	/* the thread's counts, which are final after the thread has ended */
	struct count_thread counted;
	/*
	 * descriptor of the leader of the thread's perf event group; -1 if the thread has
	 * ended
	 */
	int leader_fd;
	bool is_seen;
};

/* The perf events of one thread, used only in the guard process. */
struct perf_group {
	int tid; /* thread id; 0 if this array element is free */
	/* descriptors of the perf events, starting with the leader of the group */
	int fds[COUNT_POINTS_MAX];
};

struct perf_state {
	struct count_points points;
	struct uprobe_guard guard;
	/* array with the perf events of all threads; used only by the guard process */
	struct perf_group *groups;
	size_t group_count, group_capacity;
	int process_fd; /* descriptor of /proc/PID; owned by the caller */
	struct perf_thread *threads;
	size_t thread_count, thread_capacity;
	uint64_t lost_threads;
};

static int read_type(uint32_t *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t type;
	int r = io_read_file_at(AT_FDCWD, "/sys/bus/event_source/devices/uprobe/type", 64,
				&text);

	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	while (text.length > 0 && text.text[text.length - 1] == '\n')
		strbuf_truncate(&text, text.length - 1);
	if (num_parse_u64(strbuf_text(&text), &type) < 0 || type > UINT32_MAX)
		return -ENODEV;
	*ret = (uint32_t)type;
	return 0;
}

int count_perf_open_event(const char *path, uint64_t offset_bytes, int tid, int leader_fd)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset_bytes,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = leader_fd < 0,
	};
	int r = read_type(&attributes.type);
	int fd;

	if (r < 0)
		return r;
	fd = (int)syscall(SYS_perf_event_open, &attributes, tid, -1, leader_fd,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Open the perf events of a thread. Return 0, or -errno with all events closed. */
static int open_events(const struct count_points *points, struct perf_group *group)
{
	size_t count;
	int r = 0;

	for (count = 0; count < points->count; count++) {
		const struct count_point *point = &points->items[count];
		char path[PROCFS_FD_PATH_SIZE];

		procfs_format_fd_path(path, points->files[point->file].fd);
		r = count_perf_open_event(path, point->offset_bytes, group->tid,
					  count == 0 ? -1 : group->fds[0]);
		if (r < 0)
			break;
		group->fds[count] = r;
	}
	/* PERF_IOC_FLAG_GROUP makes the request to the leader enable the whole group */
	if (r >= 0)
		r = ioctl(group->fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0
			    ? -errno
			    : 0;
	if (r < 0)
		count_close_all(group->fds, count);
	return r;
}

static struct perf_group *find_group(const struct perf_state *state, int tid)
{
	for (size_t i = 0; i < state->group_count; i++)
		if (state->groups[i].tid == tid)
			return &state->groups[i];
	return NULL;
}

static int add_group(struct perf_state *state, int tid, int *ret_leader_fd)
{
	struct perf_group group = { .tid = tid }, *room = find_group(state, 0);
	int r = open_events(&state->points, &group);

	if (r < 0)
		return r;
	if (!room) {
		state->groups = xgrow(state->groups, &state->group_capacity,
				      state->group_count + 1, sizeof(*state->groups));
		room = &state->groups[state->group_count++];
	}
	*room = group;
	*ret_leader_fd = group.fds[0];
	return 0;
}

static void remove_group(const struct perf_state *state, struct perf_group *group)
{
	count_close_all(group->fds, state->points.count);
	group->tid = 0;
}

/*
 * Serve a request of memstate in the guard process. If `request` is positive, open the
 * events of the thread with that tid. If it is negative, close the events of the thread
 * with tid -request.
 */
static int serve(void *data, int request, int *ret_fd)
{
	struct perf_state *state = data;
	struct perf_group *group;

	if (request > 0)
		return add_group(state, request, ret_fd);
	group = find_group(state, -request);
	if (group)
		remove_group(state, group);
	return 0;
}

static void remove_groups(void *data)
{
	const struct perf_state *state = data;

	for (size_t i = 0; i < state->group_count; i++)
		if (state->groups[i].tid != 0)
			remove_group(state, &state->groups[i]);
}

static void close_events(struct perf_state *state, struct perf_thread *thread)
{
	close(thread->leader_fd);
	thread->leader_fd = -1;
	(void)uprobe_guard_ask(&state->guard, -thread->counted.tid, NULL);
}

/*
 * Subtract the calls that the allocator makes to its own functions. Two breakpoints count
 * each such call: one at the calling instruction (the inner point), and one at the start
 * of the called function. A running thread may be between the two, so the result is at
 * least 0.
 */
static void subtract_inner(uint64_t *calls, uint64_t inner_calls)
{
	*calls = *calls > inner_calls ? *calls - inner_calls : 0;
}

/* Read a thread's perf events into thread->counted. */
static void read_events(const struct perf_state *state, struct perf_thread *thread)
{
	struct {
		uint64_t count;
		uint64_t values[COUNT_POINTS_MAX];
	} group = { 0, { 0 } };
	uint64_t *calls = thread->counted.sums.calls;

	if (thread->leader_fd < 0 ||
	    read(thread->leader_fd, &group, sizeof(group)) <
		    (ssize_t)sizeof(group.count) ||
	    group.count != state->points.count)
		return;
	memset(calls, 0, sizeof(thread->counted.sums.calls));
	for (size_t i = 0; i < state->points.count; i++)
		if (!state->points.items[i].is_inner)
			calls[state->points.items[i].call] += group.values[i];
	for (size_t i = 0; i < state->points.count; i++) {
		const struct count_point *point = &state->points.items[i];

		/*
		 * do not subtract the hits of a conditional jump, because they include
		 * jumps that are not taken
		 */
		if (point->target != COUNT_POINT_NONE &&
		    point->branch.kind != X86_JUMP_IF)
			subtract_inner(&calls[state->points.items[point->target].call],
				       group.values[i]);
	}
}

static struct perf_thread *find_thread(struct perf_state *state, int tid)
{
	for (size_t i = 0; i < state->thread_count; i++)
		if (state->threads[i].counted.tid == tid &&
		    state->threads[i].leader_fd >= 0)
			return &state->threads[i];
	return NULL;
}

static void read_name(const struct perf_state *state, int tid, char name[COUNT_NAME_SIZE])
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (proc_dir_read_thread(state->process_fd, tid, PROC_COMM, 256, &text) < 0)
		return;
	strncpy(name, strbuf_text(&text), COUNT_NAME_SIZE - 1);
	name[strcspn(name, "\n")] = '\0';
}

/*
 * Start to count the calls of a thread. Return 0, -ESRCH if the thread has just ended, or
 * another -errno.
 */
static int add_thread(struct perf_state *state, int tid)
{
	struct perf_thread thread = { .counted.tid = tid, .is_seen = true };
	int r;

	if (state->thread_count >= THREADS_MAX)
		return -EMFILE;
	r = uprobe_guard_ask(&state->guard, tid, &thread.leader_fd);
	if (r < 0)
		return r;
	read_name(state, tid, thread.counted.name);
	state->threads = xgrow(state->threads, &state->thread_capacity,
			       state->thread_count + 1, sizeof(*state->threads));
	state->threads[state->thread_count++] = thread;
	return 0;
}

/*
 * Open perf events for new threads. Return 0, or -errno for the first thread whose calls
 * cannot be counted.
 */
static int scan(struct perf_state *state)
{
	_cleanup_closedir_ DIR *dir = proc_dir_list_threads(state->process_fd);
	struct dirent *entry;
	int result = 0;

	if (!dir)
		return -ESRCH;
	for (size_t i = 0; i < state->thread_count; i++)
		state->threads[i].is_seen = false;
	while ((entry = readdir(dir))) {
		struct perf_thread *known;
		int tid, r;

		if (num_parse_pid(entry->d_name, &tid) < 0)
			continue;
		known = find_thread(state, tid);
		if (known) {
			known->is_seen = true;
			continue;
		}
		r = add_thread(state, tid);
		if (r < 0 && r != -ESRCH) {
			state->lost_threads++;
			result = result == 0 ? r : result;
		}
	}
	return result;
}

/* Close the perf events of threads that have ended, but keep their counts. */
static void end_threads(struct perf_state *state)
{
	for (size_t i = 0; i < state->thread_count; i++) {
		struct perf_thread *thread = &state->threads[i];

		if (thread->is_seen || thread->leader_fd < 0)
			continue;
		read_events(state, thread);
		close_events(state, thread);
	}
}

static int perf_close(void *data, struct strbuf *why)
{
	struct perf_state *state = data;

	(void)why;
	for (size_t i = 0; i < state->thread_count; i++)
		if (state->threads[i].leader_fd >= 0)
			close(state->threads[i].leader_fd);
	uprobe_guard_end(&state->guard);
	count_points_release(&state->points);
	free(state->threads);
	free(state);
	return 0;
}

static void explain(int error, struct strbuf *why)
{
	if (error == -EPERM || error == -EACCES)
		strbuf_add_text(why, "perf_event_open(2) is not permitted: it requires "
				     "root, or CAP_PERFMON with CAP_SYS_PTRACE");
	else if (error == -ENODEV || error == -ENOENT || error == -ENOSYS)
		strbuf_add_text(
			why, "this kernel has no uprobes for perf (CONFIG_UPROBE_EVENTS, "
			     "Linux 4.17)");
	else if (error == -EMFILE)
		strbuf_add_text(why,
				"the process has too many threads for the limit on open "
				"files");
	else
		strbuf_add_text(why, strerror(-error));
}

/* Raise the limit on open files, because each perf event is an open file. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int begin(struct perf_state *state)
{
	struct uprobe_guard_work work = {
		.serve = serve,
		.end = remove_groups,
		.context = state,
	};
	int r;

	work.inherited_count = count_points_list_fds(&state->points, work.inherited_fds);
	allow_many_files();
	r = uprobe_guard_start(&state->guard, &work);
	return r < 0 ? r : scan(state);
}

static int perf_open(const struct count_place *place, void **ret_state,
		     struct strbuf *why)
{
	struct perf_state *state;
	int r;

	state = xcalloc(1, sizeof(*state));
	state->process_fd = place->process_fd;
	state->guard = (struct uprobe_guard)UPROBE_GUARD_NONE;
	r = count_points_find(place, &state->points, why);
	if (r == 0) {
		r = begin(state);
		if (r < 0)
			explain(r, why);
	}
	if (r < 0) {
		perf_close(state, why);
		return r;
	}
	*ret_state = state;
	return 0;
}

static void perf_add_description(const void *data, struct strbuf *out)
{
	const struct perf_state *state = data;

	strbuf_add_text(out, "perf uprobes in ");
	count_points_add_files(&state->points, out);
}

static void perf_add_unseen(const void *data, struct strbuf *out)
{
	(void)data;
	strbuf_add_text(
		out,
		"requested bytes; which calls failed; which frees are of NULL; live blocks; temporary "
		"blocks; forked children; threads until they are found");
}

static bool has_called(const struct perf_thread *thread)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		if (thread->counted.sums.calls[i] > 0)
			return true;
	return false;
}

static int perf_read(void *data, struct count_program *ret)
{
	struct perf_state *state = data;

	if (!uprobe_guard_is_alive(&state->guard))
		return -ECHILD;
	strncpy(ret->allocator, state->points.files[0].name, sizeof(ret->allocator) - 1);
	(void)scan(state);
	end_threads(state);
	ret->lost_threads = state->lost_threads;
	ret->threads = xgrow(ret->threads, &ret->thread_capacity, state->thread_count + 1,
			     sizeof(*ret->threads));
	for (size_t i = 0; i < state->thread_count; i++) {
		struct perf_thread *thread = &state->threads[i];
		struct count_sums sums = ret->sums;

		read_events(state, thread);
		memcpy(sums.calls, thread->counted.sums.calls, sizeof(sums.calls));
		ret->thread_count += has_called(thread);
		ret->threads[ret->listed_count] = thread->counted;
		ret->threads[ret->listed_count].is_main = thread->counted.tid == ret->pid;
		ret->threads[ret->listed_count++].sums = sums;
	}
	count_backend_sum(ret);
	return 0;
}

/*
 * Check whether the kernel can count breakpoints, by opening a perf event for memstate
 * itself at a file offset without code. The event never counts anything, and changes
 * nothing.
 */
static int perf_check(struct strbuf *why)
{
	int fd = count_perf_open_event(PROC_OWN_PROGRAM, 0, 0, -1);

	if (fd < 0) {
		explain(fd, why);
		return fd;
	}
	close(fd);
	return 0;
}

const struct count_backend count_backend_perf = {
	.open = perf_open,
	.add_description = perf_add_description,
	.add_unseen = perf_add_unseen,
	.read = perf_read,
	.close = perf_close,
	.check = perf_check,
};
