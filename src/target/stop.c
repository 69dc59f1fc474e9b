/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "target/stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"

/* A thread in an uninterruptible sleep stops only after it: looked for this often meanwhile. */
#define POLL_NS (50 * NS_PER_US)

/* New threads appear while others are being stopped; each pass over them leaves fewer. */
#define PASSES_MAX 64

struct seized {
	int tid;
	bool is_stopped;
	bool is_gone;
	int signal; /* that was about to be delivered when it stopped: goes on with it */
};

struct tracer {
	const struct stop_request *request;
	struct seized *seized;
	size_t count, capacity;
	uint64_t began_ns, ended_ns, deadline_ns;
	int result;
};

/* "State:\tZ (zombie)" and "TracerPid:\t0" of task/TID/status. */
static int read_status(int task_fd, int tid, char *ret_state, int *ret_tracer)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *state, *tracer;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "%d/status", tid);
	r = io_read_file_at(task_fd, path, 16384, &text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	state = strstr(strbuf_text(&text), "\nState:\t");
	tracer = strstr(strbuf_text(&text), "\nTracerPid:\t");
	if (!state || !tracer)
		return -EBADMSG;
	*ret_state = state[8];
	*ret_tracer = atoi(tracer + 12);
	return 0;
}

static bool has_ended(int task_fd, int tid)
{
	char state;
	int tracer, r;

	r = read_status(task_fd, tid, &state, &tracer);
	return r == -ESRCH || (r == 0 && (state == 'Z' || state == 'X'));
}

/* Why the kernel said EPERM: an ended thread is no obstacle (0), another tracer is one of its own. */
static int explain_refusal(int task_fd, int tid)
{
	char state;
	int tracer;

	if (has_ended(task_fd, tid))
		return 0;
	if (read_status(task_fd, tid, &state, &tracer) < 0)
		return -EPERM;
	return tracer != 0 ? -EBUSY : -EPERM;
}

static bool is_seized(const struct tracer *t, int tid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->seized[i].tid == tid)
			return true;
	return false;
}

/* Returns 1 if the thread is ours now, 0 if there is none any more, or -errno. */
static int seize(struct tracer *t, int tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		if (errno == ESRCH)
			return 0;
		return errno == EPERM ? explain_refusal(t->request->task_fd, tid)
				      : -errno;
	}
	t->seized = xgrow(t->seized, &t->capacity, t->count + 1, sizeof(*t->seized));
	t->seized[t->count++] = (struct seized){ .tid = tid };
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

/* Take the threads that are not ours yet. Returns how many those were, or -errno. */
static int seize_new(struct tracer *t, DIR *dir)
{
	struct dirent *entry;
	int added = 0;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		int tid, r;

		if (num_parse_pid(entry->d_name, &tid) < 0 || is_seized(t, tid))
			continue;
		r = seize(t, tid);
		if (r < 0)
			return r;
		added += r;
	}
	return added;
}

static void note_stop(struct seized *s, int status)
{
	if (!WIFSTOPPED(status)) {
		s->is_gone = true;
		return;
	}
	s->is_stopped = true;
	if (status >> 16 ==
	    0) /* not the stop that was asked for, but a signal on its way */
		s->signal = WSTOPSIG(status);
}

static int wait_for_stop(const struct tracer *t, struct seized *s)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };

	while (!s->is_stopped && !s->is_gone) {
		int status;
		pid_t pid = waitpid(s->tid, &status, __WALL | WNOHANG);

		if (pid < 0 && errno != EINTR)
			s->is_gone = true;
		else if (pid == s->tid)
			note_stop(s, status);
		else if (clock_now_ns() > t->deadline_ns)
			return -ETIMEDOUT;
		else
			nanosleep(&poll, NULL);
	}
	return 0;
}

static int stop_all(struct tracer *t)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = openat(t->request->task_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t waited = 0;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		int r = seize_new(t, dir);

		if (r < 0)
			return r;
		if (r == 0)
			return t->count > 0 ? 0 : -ESRCH;
		for (; waited < t->count; waited++) {
			r = wait_for_stop(t, &t->seized[waited]);
			if (r < 0)
				return r;
		}
	}
	return -ETIMEDOUT;
}

#if defined(__x86_64__)
static int read_registers(int tid, struct stopped_thread *ret)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) < 0)
		return errno == ESRCH ? -ESRCH : -errno;
	if (io.iov_len != sizeof(regs)) /* a 32-bit program */
		return -EOPNOTSUPP;
	_Static_assert(sizeof(regs) <= sizeof(ret->registers), "room for all registers");
	memcpy(ret->registers, &regs, sizeof(regs));
	ret->register_count = sizeof(regs) / sizeof(uint64_t);
	ret->tid = tid;
	ret->stack_addr = regs.rsp;
	ret->tls_addr = regs.fs_base;
	return 0;
}
#else
static int read_registers(int tid, struct stopped_thread *ret)
{
	(void)tid;
	(void)ret;
	return -EOPNOTSUPP;
}
#endif

static int read_all_registers(const struct tracer *t, struct stop *stop)
{
	for (size_t i = 0; i < t->count; i++) {
		int r;

		if (t->seized[i].is_gone)
			continue;
		r = read_registers(t->seized[i].tid, &stop->threads[stop->count]);
		if (r == -ESRCH) { /* killed while it stood, or why else? */
			if (!has_ended(t->request->task_fd, t->seized[i].tid))
				return -ESTALE;
			continue;
		}
		if (r < 0)
			return r;
		stop->count++;
	}
	return stop->count > 0 ? 0 : -ESRCH;
}

static int work_stopped(struct tracer *t)
{
	struct stop stop = { .deadline_ns = t->deadline_ns };
	int r;

	stop.threads = xcalloc(t->count, sizeof(*stop.threads));
	r = read_all_registers(t, &stop);
	if (r == 0)
		r = t->request->work(t->request->context, &stop);
	free(stop.threads);
	return r;
}

/* Threads that have not stopped cannot be detached: the kernel lets go of them with this thread. */
static void release_all(struct tracer *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->seized[i].is_stopped)
			(void)ptrace(PTRACE_DETACH, t->seized[i].tid, NULL,
				     (void *)(intptr_t)t->seized[i].signal);
}

static void *trace(void *arg)
{
	struct tracer *t = arg;

	t->began_ns = clock_now_ns();
	t->deadline_ns = t->began_ns + t->request->limit_ns;
	t->result = stop_all(t);
	if (t->result == 0)
		t->result = work_stopped(t);
	release_all(t);
	t->ended_ns = clock_now_ns();
	return NULL;
}

int stop_run(const struct stop_request *request, uint64_t *ret_pause_ns)
{
	struct tracer tracer = { .request = request };
	sigset_t all, before;
	pthread_t thread;
	int err;

	*ret_pause_ns = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, trace, &tracer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_join(thread, NULL);
	*ret_pause_ns = tracer.ended_ns - tracer.began_ns;
	free(tracer.seized);
	return tracer.result;
}
