/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/oom/arm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "proc/cgroup/knob.h"
#include "tracee/ptrace/exit_trace.h"

#define PAGE_BYTES_MAX UINT64_C(65536)
#define HIGH_PART 16 /* memory.high becomes the limit minus 1/HIGH_PART of the limit */
#define REPLY_MS 5000
#define END_NS (2 * NS_PER_S)

/*
 * Messages between memstate and the guard, a process that restores the cgroup's setting.
 * The guard sends KNOB_IS_SET, or a negative error number. memstate sends KNOB_BEAT to
 * show that it is alive.
 */
enum knob_message {
	KNOB_IS_SET = 1,
	KNOB_BEAT
};

static const struct {
	const char *name, *what;
} modes[] = {
	[ARM_FREEZE] = { "freeze",
			 "at the limit, memstate pauses all processes until it has "
			 "read them, for at most 3 seconds; then the kernel kills" },
	[ARM_HIGH] = { "high",
		       "above 15/16 of the limit, the kernel slows the processes down "
		       "until memstate has read them, for at most 5 seconds" },
	[ARM_TRACE] = { "trace",
			"memstate traces the processes and pauses a killed process "
			"before it exits, until it has read it, for at most 1 second; "
			"debuggers cannot attach" },
};

struct oom_arm {
	enum arm_mode mode;
	/* the changed setting, for --arm freeze and --arm high */
	struct cgroup_knob knob;
	int fd; /* socket to the guard process; -1: the guard process has ended */
	pid_t guard_pid;
	bool is_armed;
	int put_back_error;
	uint64_t beat_ns;
	int *pids; /* pids sent to the tracer, in ascending order */
	size_t pid_count, pid_capacity;
	bool is_refusal_reported;
};

int oom_arm_parse(const char *text, enum arm_mode *ret)
{
	for (size_t i = ARM_FREEZE; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, text) == 0) {
			*ret = (enum arm_mode)i;
			return 0;
		}
	return -EINVAL;
}

static bool has_agreed(enum arm_mode mode, const char *path)
{
	char answer[8];

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		message("--arm %s changes settings of a running cgroup, and there is no "
			"terminal to ask for confirmation; use --yes to confirm",
			modes[mode].name);
		return false;
	}
	fprintf(stderr, "%s: %s. Continue? [y/N] ", path, modes[mode].what);
	fflush(stderr);
	/* wait for an answer; ^C counts as "no" */
	signals_wait_for_input(STDIN_FILENO, UINT64_MAX);
	return signals_stop_count() == 0 && fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static int report(enum arm_mode mode, const char *path, int error)
{
	if (error == -EOPNOTSUPP && mode == ARM_FREEZE)
		message("--arm freeze: requires memory.oom_control, which only cgroup v1 "
			"has; use --arm high");
	else if (error == -EOPNOTSUPP && mode == ARM_HIGH)
		message("--arm high: requires memory.high, which only cgroup v2 has; use "
			"--arm freeze");
	else if (error == -EBUSY)
		message("--arm %s: another program has already changed this setting of "
			"%s",
			modes[mode].name, path);
	else if (error == -EDEADLK)
		message("--arm freeze: memstate itself is running in %s and would be frozen; "
			"run it in another cgroup",
			path);
	else if (error == -ERANGE)
		message("--arm %s: %s has no limit", modes[mode].name, path);
	else
		message("--arm %s: %s: %s", modes[mode].name, path, strerror(-error));
	return EXIT_FAILED;
}

/*
 * Return true if processes of the cgroup have been blocked at the cgroup's limit for too
 * long, and the guard process must restore the setting. *since_ns is when the guard
 * process first saw them blocked, or 0.
 */
static bool is_held_long(const struct cgroup_knob *knob, uint64_t *since_ns)
{
	uint64_t now = clock_now_ns();

	if (!cgroup_knob_is_blocking(knob))
		*since_ns = 0;
	else if (*since_ns == 0)
		*since_ns = now;
	return *since_ns != 0 && now - *since_ns > ARM_SILENCE_NS - ARM_BEAT_NS;
}

/*
 * Run the main loop of the guard process. It restores the setting if memstate ends or
 * closes the socket, is silent for too long, or leaves processes stopped. Return 0
 * or -errno.
 */
static int guard_knob(const struct cgroup_knob *knob, int fd)
{
	int r = cgroup_knob_set(knob), message = r < 0 ? r : KNOB_IS_SET;
	uint64_t held_since_ns = 0;
	ssize_t n;

	(void)!send(fd, &message, sizeof(message), MSG_NOSIGNAL);
	if (r < 0)
		return r;
	do {
		struct pollfd polled = { fd, POLLIN, 0 };

		/*
		 * with --arm freeze, turn the setting off in new descendant cgroups,
		 * which inherit it, because memstate is not notified when they run out of
		 * memory
		 */
		(void)cgroup_knob_restore_descendants(knob);
		n = poll(&polled, 1, (int)(ARM_SILENCE_NS / NS_PER_MS));
		if (n > 0)
			n = recv(fd, &message, sizeof(message), 0);
	} while ((n > 0 || (n < 0 && errno == EINTR)) &&
		 !is_held_long(knob, &held_since_ns));
	return cgroup_knob_restore(knob);
}

/*
 * Run the guard process with only the descriptors that it needs, without memstate's files
 * and locks, and without the terminal.
 */
static _Noreturn void run_guard(const struct oom_arm *arm, int fd)
{
	const int kept_fd = 3, kept_knob_fd = 4;
	struct cgroup_knob knob = arm->knob;
	sigset_t all;
	int r;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/*
	 * move both descriptors above their final numbers, so that dup2()
	 * overwrites neither
	 */
	fd = fcntl(fd, F_DUPFD, 10);
	knob.fd = knob.fd >= 0 ? fcntl(knob.fd, F_DUPFD, 10) : -1;
	if (fd < 0 || (arm->knob.fd >= 0 && knob.fd < 0) || dup2(fd, kept_fd) < 0 ||
	    (knob.fd >= 0 && dup2(knob.fd, kept_knob_fd) < 0))
		_exit(1);
	close_range((unsigned int)(knob.fd >= 0 ? kept_knob_fd : kept_fd) + 1, ~0U, 0);
	knob.fd = kept_knob_fd;
	r = arm->mode == ARM_TRACE ? exit_trace_serve(kept_fd, ARM_SILENCE_NS)
				   : guard_knob(&knob, kept_fd);
	_exit(r < 0 ? 1 : 0);
}

static int start_guard(struct oom_arm *arm)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	arm->guard_pid = fork();
	if (arm->guard_pid == 0)
		run_guard(arm, fds[1]);
	close(fds[1]);
	if (arm->guard_pid < 0) {
		close(fds[0]);
		return -errno;
	}
	arm->fd = fds[0];
	return 0;
}

/*
 * Wait until the guard process reports that the setting is in effect. Return 0 or -errno.
 */
static int await_set(const struct oom_arm *arm)
{
	struct pollfd polled = { arm->fd, POLLIN, 0 };
	int message;

	if (poll(&polled, 1, REPLY_MS) <= 0)
		return -ETIMEDOUT;
	if (recv(arm->fd, &message, sizeof(message), 0) != (ssize_t)sizeof(message))
		return -EIO;
	return message == KNOB_IS_SET ? 0 : message;
}

static int open_knob(struct oom_arm *arm, const struct procfs *fs,
		     const struct cgroup *cgroup)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	int r;

	if (!owner)
		return -ERANGE;
	r = cgroup_mount_find(fs, &mount);
	if (r == 0)
		r = cgroup_knob_open(&mount, owner->path,
				     arm->mode == ARM_FREEZE ? CGROUP_KNOB_FREEZE
							     : CGROUP_KNOB_HIGH,
				     &arm->knob);
	arm->knob.bytes = (owner->limit_bytes - owner->limit_bytes / HIGH_PART) /
			  PAGE_BYTES_MAX * PAGE_BYTES_MAX;
	cgroup_mount_release(&mount);
	return r;
}

/*
 * Return true if memstate itself is in the cgroup. memstate would then also be paused,
 * and could not read the other processes.
 */
static bool contains_memstate(const struct cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->pid_count; i++)
		if (cgroup->pids[i] == getpid())
			return true;
	return false;
}

int oom_arm_begin(enum arm_mode mode, bool is_agreed, const struct procfs *fs,
		  const struct cgroup *cgroup, struct oom_arm **ret)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	const char *path = owner ? owner->path : cgroup->levels[0].path;
	struct oom_arm *arm = xcalloc(1, sizeof(*arm));
	int r = 0;

	arm->mode = mode;
	arm->fd = arm->knob.fd = -1;
	if (mode == ARM_FREEZE && contains_memstate(cgroup))
		r = -EDEADLK;
	else if (mode != ARM_TRACE)
		r = open_knob(arm, fs, cgroup);
	if (r == 0 && !is_agreed && !has_agreed(mode, path)) {
		oom_arm_end(arm);
		return EXIT_FAILED;
	}
	if (r == 0)
		r = start_guard(arm);
	if (r == 0 && mode != ARM_TRACE)
		r = await_set(arm);
	if (r < 0) {
		oom_arm_end(arm);
		return report(mode, path, r);
	}
	arm->is_armed = true;
	oom_arm_beat(arm, cgroup);
	*ret = arm;
	return EXIT_DONE;
}

/*
 * End the guard process. If it has not restored the cgroup's setting,
 * restore the setting.
 */
static void disarm(struct oom_arm *arm)
{
	uint64_t until_ns = clock_now_ns() + END_NS;

	if (arm->fd >= 0)
		close(arm->fd);
	arm->fd = -1;
	while (arm->guard_pid > 0 && waitpid(arm->guard_pid, NULL, WNOHANG) == 0) {
		/* if the guard process is stopped (SIGSTOP), only SIGKILL ends it */
		if (clock_now_ns() > until_ns)
			kill(arm->guard_pid, SIGKILL);
		usleep(1000);
	}
	arm->guard_pid = 0;
	if (arm->is_armed && arm->mode != ARM_TRACE)
		arm->put_back_error = cgroup_knob_restore(&arm->knob);
	arm->is_armed = false;
}

int oom_arm_end(struct oom_arm *arm)
{
	int r;

	if (!arm)
		return 0;
	disarm(arm);
	r = arm->put_back_error;
	cgroup_knob_close(&arm->knob);
	free(arm->pids);
	free(arm);
	return r;
}

bool oom_arm_is_armed(const struct oom_arm *arm)
{
	return arm && arm->is_armed;
}

enum arm_mode oom_arm_mode(const struct oom_arm *arm)
{
	return arm ? arm->mode : ARM_NONE;
}

int oom_arm_fd(const struct oom_arm *arm)
{
	return arm ? arm->fd : -1;
}

/* Report the first process that cannot be traced. Later refusals are not reported. */
static void report_refused(struct oom_arm *arm, const struct exit_trace_message *refused)
{
	if (!arm->is_refusal_reported)
		message("--arm trace: cannot trace process %d (%s): its final state "
			"may be missed",
			refused->pid, strerror(-refused->error));
	arm->is_refusal_reported = true;
}

static bool is_known(const struct oom_arm *arm, int pid)
{
	for (size_t i = 0; i < arm->pid_count; i++)
		if (arm->pids[i] == pid)
			return true;
	return false;
}

static void send_message(const struct oom_arm *arm, enum exit_trace_kind kind, int pid)
{
	const struct exit_trace_message message = { .kind = kind, .pid = pid };

	(void)!send(arm->fd, &message, sizeof(message), MSG_NOSIGNAL);
}

/* Send the tracer the pids of processes that are new in the cgroup. */
static void add_processes(struct oom_arm *arm, const struct cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->pid_count; i++)
		if (cgroup->pids[i] != getpid() && !is_known(arm, cgroup->pids[i]))
			send_message(arm, EXIT_TRACE_ADD, cgroup->pids[i]);
	arm->pids = xgrow(arm->pids, &arm->pid_capacity, cgroup->pid_count,
			  sizeof(*arm->pids));
	arm->pid_count = cgroup->pid_count;
	if (arm->pid_count > 0)
		memcpy(arm->pids, cgroup->pids, arm->pid_count * sizeof(*arm->pids));
}

static bool send_beat(const struct oom_arm *arm)
{
	const struct exit_trace_message to_tracer = { .kind = EXIT_TRACE_BEAT };
	const int to_knob = KNOB_BEAT;

	if (arm->mode == ARM_TRACE)
		return send(arm->fd, &to_tracer, sizeof(to_tracer), MSG_NOSIGNAL) >= 0;
	return send(arm->fd, &to_knob, sizeof(to_knob), MSG_NOSIGNAL) >= 0;
}

void oom_arm_beat(struct oom_arm *arm, const struct cgroup *cgroup)
{
	uint64_t now = clock_now_ns();

	if (!oom_arm_is_armed(arm))
		return;
	if (arm->mode == ARM_TRACE)
		add_processes(arm, cgroup);
	if (now <= arm->beat_ns + ARM_BEAT_NS / 2)
		return;
	if (send_beat(arm))
		arm->beat_ns = now;
	else
		disarm(arm);
}

int oom_arm_next_dying(struct oom_arm *arm)
{
	while (oom_arm_is_armed(arm)) {
		struct exit_trace_message message;
		ssize_t n = recv(arm->fd, &message, sizeof(message), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		/* the guard process has exited, although memstate did not ask it to */
		if (n <= 0)
			disarm(arm);
		else if (n == (ssize_t)sizeof(message) &&
			 message.kind == EXIT_TRACE_DYING)
			return message.pid;
		else if (n == (ssize_t)sizeof(message) &&
			 message.kind == EXIT_TRACE_REFUSED)
			report_refused(arm, &message);
	}
	return 0;
}

void oom_arm_release(struct oom_arm *arm, int pid)
{
	if (oom_arm_is_armed(arm))
		send_message(arm, EXIT_TRACE_RELEASE, pid);
}
