/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/track/others.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"
#include "proc/process/status.h"
#include "tracee/ptrace/endless_wait.h"
#include "tracee/ptrace/trace.h"

/* Default time limit for stopping all other threads. */
#define HOLD_LIMIT_NS (200 * NS_PER_MS)
#define RETRY_NS (50 * NS_PER_US)

static int fail(struct borrow *b, int error, const char *reason)
{
	b->reason = reason;
	return error;
}

static struct other *find(const struct others *others, int tid)
{
	for (size_t i = 0; i < others->count; i++)
		if (others->items[i].tid == tid)
			return &others->items[i];
	return NULL;
}

static bool is_ending(int task_fd, int tid)
{
	char state;
	int tracer, r = proc_status_read_state(task_fd, tid, &state, &tracer);

	return r == -ESRCH || r == -ENOENT || (r == 0 && (state == 'Z' || state == 'X'));
}

/*
 * Begin to stop a thread. Return 1 if the thread was added to `others`, 0 if it is
 * ending, or -errno.
 */
static int seize(struct others *others, struct borrow *b, int task_fd, int tid)
{
	int r;

	borrow_step(b, "seize another thread");
	r = trace_seize(tid);
	if (r < 0)
		return r == -ESRCH || is_ending(task_fd, tid) ? 0 : r;
	others->items = xgrow(others->items, &others->capacity, others->count + 1,
			      sizeof(*others->items));
	others->items[others->count++] = (struct other){ .tid = tid };
	(void)trace_interrupt(tid);
	return 1;
}

static int wait_for_stops(struct others *others, struct borrow *b, uint64_t deadline_ns)
{
	for (size_t i = 0; i < others->count; i++) {
		struct other *other = &others->items[i];
		uint64_t now_ns = clock_now_ns();
		enum trace_event event;
		int r;

		if (other->is_stopped || other->has_ended)
			continue;
		r = trace_wait(other->tid,
			       now_ns < deadline_ns ? deadline_ns - now_ns : 0, &event,
			       &other->signal);
		if (r == -ETIMEDOUT)
			return fail(b, -EAGAIN,
				    "one of its threads did not stop: it is waiting for "
				    "a CPU, or is in an uninterruptible sleep");
		other->has_ended = r < 0 || event == TRACE_ENDED;
		other->is_stopped = !other->has_ended;
		if (other->is_stopped)
			endless_wait_continue(other->tid);
	}
	return 0;
}

/*
 * Begin to stop the threads in /proc/PID/task that are not stopped yet. Return 1 if new
 * threads were found, 0 if there were none, or -errno. *ret_count is the number of listed
 * threads that cannot disappear during the listing: those that were already stopped, and
 * the main thread if it has ended.
 */
static int hold_new(struct others *others, struct borrow *b, DIR *tasks,
		    size_t *ret_count)
{
	struct dirent *entry;
	int added = 0;

	*ret_count = 0;
	rewinddir(tasks);
	while ((entry = readdir(tasks))) {
		const struct other *known;
		int tid, r;

		if (num_parse_pid(entry->d_name, &tid) < 0)
			continue;
		known = find(others, tid);
		r = known || tid == b->tid ? 0 : seize(others, b, dirfd(tasks), tid);
		if (r < 0)
			return r;
		added += r;
		*ret_count += tid == b->tid || (known && !known->has_ended);
		/*
		 * a main thread that has ended stays in /proc/PID/task until all other
		 * threads have ended
		 */
		*ret_count += tid == b->request->pid && tid != b->tid &&
			      (known ? known->has_ended : r == 0);
	}
	return added > 0;
}

int others_hold(struct others *others, struct borrow *b)
{
	const struct timespec pause = { .tv_nsec = (long)RETRY_NS };
	uint64_t limit_ns = b->request->hold_limit_ns;
	uint64_t deadline_ns =
		clock_now_ns() +
		(limit_ns > 0 && limit_ns < HOLD_LIMIT_NS ? limit_ns : HOLD_LIMIT_NS);
	_cleanup_closedir_ DIR *tasks = proc_dir_list_threads(b->process_fd);
	size_t count;

	if (!tasks)
		return fail(b, -ESRCH, "it has exited");
	while (clock_now_ns() < deadline_ns) {
		struct stat st;
		int r = hold_new(others, b, tasks, &count);

		if (r >= 0 && wait_for_stops(others, b, deadline_ns) < 0)
			return -EAGAIN;
		if (r < 0)
			return r;
		/*
		 * A listing of /proc/PID/task may omit threads if a thread ends
		 * meanwhile. The listing is complete if it has as many threads as the
		 * link count of the directory minus 2.
		 */
		if (r == 0 && fstat(dirfd(tasks), &st) == 0 && st.st_nlink <= count + 2)
			return 0;
		nanosleep(&pause, NULL);
	}
	return fail(b, -EAGAIN, "it keeps starting threads");
}

void others_release(struct others *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (others->items[i].is_stopped)
			(void)trace_detach(others->items[i].tid, others->items[i].signal);
	free(others->items);
	*others = (struct others)OTHERS_INIT;
}
