/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/gates.h"
#include "probe/helper/probe.h"
#include "proc/process/file.h"

/*
 * Timeouts: for an injection, which waits until the process reaches a safe point; for a
 * query; and for a query of a process that may stall for a long time.
 */
#define OPEN_LIMIT_NS (5 * NS_PER_S)
#define ASK_LIMIT_NS (2 * NS_PER_S)
#define STALL_LIMIT_NS (60 * NS_PER_S)

/*
 * Delays before a retry. A failed injection is retried after a second, because
 * each attempt briefly stops the process. A search for an existing helper does not
 * affect the process and is repeated sooner, because a process that is just
 * starting may load its helper soon.
 */
#define RETRY_NS NS_PER_S
#define LOOK_NS (10 * NS_PER_MS)
#define RETRY_MAX_NS (64 * NS_PER_S)

#define PROBLEM_COUNT 8

/* The helper in one target process. */
struct helper {
	struct process process;
	struct probe *probe; /* connection to the helper; NULL: not connected */
	struct probe_cost cost;
	/* negative errno value that explains why the process has no helper */
	int error;
	const char *problem;
	/*
	 * The distinct errors that have occurred, each with the message text of its first
	 * occurrence. Samples contain pointers to these texts.
	 */
	struct {
		int error;
		char *text;
	} problems[PROBLEM_COUNT];
	/* delay before the next retry after a failure; 0 after a success */
	uint64_t wait_ns;
	uint64_t retry_ns;
	/* the last answer of the helper, without its text */
	struct allocator_stats last;
};

struct helpers {
	struct procfs fs; /* procfs with its own file descriptor */
	/*
	 * -EMFILE if the procfs could not get a file descriptor, so
	 * that helpers are unavailable
	 */
	int error;
	bool allows_stall, wants_text;
	struct helper *items;
	size_t count, capacity;
	/* pids and names of the processes into which helpers may be injected */
	int *pids;
	size_t pid_count, pid_capacity;
	const char **names;
	size_t name_count, name_capacity;
	struct name_cache *name_cache;
};

struct helpers *helpers_new(const struct procfs *fs, bool allows_stall, bool wants_text)
{
	struct helpers *h = xcalloc(1, sizeof(*h));

	h->name_cache = name_cache_new();
	h->fs = *fs;
	h->fs.fd = fcntl(fs->fd, F_DUPFD_CLOEXEC, 0);
	h->error = h->fs.fd < 0 ? -EMFILE : 0;
	h->allows_stall = allows_stall;
	h->wants_text = wants_text;
	return h;
}

void helpers_allow(struct helpers *h, const struct targets *targets)
{
	for (size_t i = 0; i < targets->pid_count; i++) {
		h->pids = xgrow(h->pids, &h->pid_capacity, h->pid_count + 1,
				sizeof(*h->pids));
		h->pids[h->pid_count++] = targets->pids[i].pid;
	}
	for (size_t i = 0; i < targets->name_count; i++) {
		h->names = xgrow(h->names, &h->name_capacity, h->name_count + 1,
				 sizeof(*h->names));
		h->names[h->name_count++] = targets->names[i];
	}
}

static bool is_allowed(const struct helpers *h, const struct process *p)
{
	const struct name_patterns patterns = { h->names, h->name_count, NULL, NULL };

	for (size_t i = 0; i < h->pid_count; i++)
		if (h->pids[i] == p->pid)
			return true;
	return targets_are_named(&h->fs, h->name_cache, &patterns, p);
}

static char *format_problem(int error, const char *text)
{
	struct strbuf problem = STRBUF_INIT;

	strbuf_add_text(&problem, text ? text : strerror(-error));
	if (error == -EFBIG)
		strbuf_add_text(&problem, " (--allow-stall queries it anyway)");
	return problem.text;
}

/*
 * Copy the message about the problem, because the next query may overwrite the original.
 */
static const char *keep_problem(struct helper *helper, int error, const char *text)
{
	for (size_t i = 0; i < PROBLEM_COUNT; i++) {
		if (!helper->problems[i].text) {
			helper->problems[i].error = error;
			helper->problems[i].text = format_problem(error, text);
		}
		if (helper->problems[i].error == error)
			return helper->problems[i].text;
	}
	return "it did not answer";
}

static void release_problems(struct helper *helper)
{
	for (size_t i = 0; i < PROBLEM_COUNT; i++)
		free(helper->problems[i].text);
}

/*
 * Close the connection to the helper and remove it. Return 0, or -errno if a part of the
 * helper remains in a running process.
 */
static int close_helper(struct helper *helper, const char **ret_what)
{
	struct probe_cost cost;
	int r = 0;

	if (helper->probe)
		r = probe_close(helper->probe, &cost, ret_what);
	helper->probe = NULL;
	return r == -ESRCH ? 0 : r;
}

void helpers_free(struct helpers *h,
		  void (*on_left)(void *context, int pid, const char *what),
		  void *context)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->count; i++) {
		const char *what = NULL;

		if (close_helper(&h->items[i], &what) < 0 && on_left)
			on_left(context, h->items[i].process.pid, what);
		release_problems(&h->items[i]);
	}
	free(h->items);
	free(h->pids);
	free(h->names);
	name_cache_free(h->name_cache);
	procfs_release(&h->fs);
	free(h);
}

static struct helper *find(struct helpers *h, const struct process *p)
{
	for (size_t i = 0; i < h->count; i++)
		if (process_is_same(&h->items[i].process, p))
			return &h->items[i];
	return NULL;
}

/*
 * Forget the helpers of processes that have ended. This frees only memstate's own memory,
 * because the memory of the processes is gone. If the files of a process cannot be opened
 * for another reason, such as a lack of file descriptors, assume that the process is
 * still running.
 */
static void forget_ended(struct helpers *h)
{
	const char *what;
	size_t count = 0;

	for (size_t i = 0; i < h->count; i++) {
		int fd = proc_file_open(&h->fs, h->items[i].process.pid, PROC_STAT);

		if (fd >= 0)
			close(fd);
		if (fd != -ESRCH) {
			h->items[count++] = h->items[i];
		} else {
			(void)close_helper(&h->items[i], &what);
			release_problems(&h->items[i]);
		}
	}
	h->count = count;
}

static struct helper *add(struct helpers *h, const struct process *p)
{
	struct helper *helper;

	forget_ended(h);
	h->items = xgrow(h->items, &h->capacity, h->count + 1, sizeof(*h->items));
	helper = &h->items[h->count++];
	*helper = (struct helper){ .process = *p };
	return helper;
}

static void record_failure(const struct helpers *h, struct helper *helper, int error,
			   const char *problem)
{
	if (helper->wait_ns == 0)
		helper->wait_ns = is_allowed(h, &helper->process) ? RETRY_NS : LOOK_NS;
	else if (helper->wait_ns < RETRY_MAX_NS)
		helper->wait_ns *= 2;
	helper->error = error;
	helper->problem = keep_problem(helper, error, problem);
	helper->retry_ns = clock_now_ns() + helper->wait_ns;
}

static void open_helper(struct helpers *h, struct helper *helper)
{
	const struct probe_request request = {
		.fs = &h->fs,
		.pid = helper->process.pid,
		.start_ticks = helper->process.start_ticks,
		.may_inject = is_allowed(h, &helper->process),
		.limit_ns = OPEN_LIMIT_NS,
	};
	const char *reason = NULL;
	int r;

	helper->cost = (struct probe_cost){ 0 };
	r = probe_open(&request, &helper->probe, &helper->cost, &reason);
	if (r < 0)
		record_failure(h, helper, r, reason);
	else
		helper->error = 0;
}

void helpers_open(struct helpers *h, const struct process *p, struct helper_answer *ret)
{
	struct helper *helper;

	if (h->error) {
		*ret = (struct helper_answer){
			.was_requested = true,
			.error = h->error,
			.problem = GATES_NO_DESCRIPTORS,
		};
		return;
	}
	helper = find(h, p);
	if (!helper)
		helper = add(h, p);
	if (!helper->probe && clock_now_ns() >= helper->retry_ns)
		open_helper(h, helper);
	*ret = (struct helper_answer){
		.was_requested = true,
		.error = helper->error,
		.problem = helper->error ? helper->problem : NULL,
		.was_injected = helper->probe && helper->cost.stops > 0,
		.stop_count = helper->cost.stops,
		.stopped_ns = helper->cost.stopped_ns,
	};
}

/*
 * Return true if the error means that the helper has ended or does not belong to
 * memstate. In that case, the next attempt searches for a new helper.
 */
static bool is_lost(int error)
{
	return error == -ESRCH || error == -EPROTO;
}

void helpers_ask(struct helpers *h, const struct process *p, uint64_t free_chunks,
		 struct helper_answer *ret)
{
	const struct probe_question question = {
		.limit_ns = h->allows_stall ? STALL_LIMIT_NS : ASK_LIMIT_NS,
		.wants_text = h->wants_text,
		.allows_stall = h->allows_stall,
		.free_chunks = free_chunks,
	};
	struct helper *helper = find(h, p);
	const char *reason = NULL, *what;
	int r;

	if (!helper || !helper->probe)
		return;
	r = probe_ask(helper->probe, &question, &ret->stats, &reason);
	if (r == 0) {
		helper->last = ret->stats;
		helper->last.text = NULL;
		helper->wait_ns = 0;
		return;
	}
	if (r == -EAGAIN && helper->last.taken_ns != 0) {
		ret->stats = helper->last;
		return;
	}
	ret->error = r;
	ret->problem = keep_problem(helper, r, reason);
	if (is_lost(r)) {
		(void)close_helper(helper, &what);
		record_failure(h, helper, r, ret->problem);
	}
}
