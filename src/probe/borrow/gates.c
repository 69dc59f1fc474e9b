/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/gates.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "base/platform.h"
#include "base/strbuf.h"
#include "proc/process/dir.h"
#include "proc/process/stat.h"
#include "proc/process/status.h"
#include "tracee/elf/reader.h"

#define SPARE_DESCRIPTORS 8

/*
 * A check of a line in /proc/PID/status: the values with which memstate refuses to change
 * the process, and the reason that it then reports.
 */
struct status_gate {
	const char *key;
	/*
	 * refuse a value that starts with one of these letters; if NULL, refuse any
	 * value except "0"
	 */
	const char *refused;
	int error;
	const char *reason;
};

static const struct status_gate status_gates[] = {
	{ "State:", "ZX", -ESRCH, "the process has exited" },
	{ "State:", "T", -EAGAIN, "the process is stopped by a signal" },
	{ "State:", "t", -EBUSY, "a tracer has stopped it" },
	{ "TracerPid:", NULL, -EBUSY, "another tracer is attached to the process" },
	{ "Seccomp:", NULL, -EOPNOTSUPP,
	  "it runs under seccomp, which may kill it for a system call that it never "
	  "makes itself" },
};

static int check_status(const char *text, const char **ret_reason)
{
	for (size_t i = 0; i < sizeof(status_gates) / sizeof(status_gates[0]); i++) {
		const struct status_gate *gate = &status_gates[i];
		const char *value = key_lines_find(text, gate->key);

		if (!value ||
		    (gate->refused ? !strchr(gate->refused, *value) : *value == '0'))
			continue;
		*ret_reason = gate->reason;
		return gate->error;
	}
	return 0;
}

/*
 * Return true if the line lists shstk (shadow stack), as in
 * "x86_Thread_features:\tshstk wrss".
 */
static bool has_shadow_stack(const char *text)
{
	const char *value = key_lines_find(text, "x86_Thread_features:");

	return value && memmem(value, strcspn(value, "\n"), "shstk", strlen("shstk"));
}

static int read_status(int process_fd, const char **ret_reason)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r;

	r = proc_status_read(process_fd, &text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	r = check_status(strbuf_text(&text), ret_reason);
	if (r == 0 && has_shadow_stack(strbuf_text(&text))) {
		*ret_reason = "it has a shadow stack";
		r = -EOPNOTSUPP;
	}
	return r;
}

static int check_program(int process_fd, const char **ret_reason)
{
	_cleanup_close_ int fd = proc_dir_open_program(process_fd);

	if (fd < 0) {
		*ret_reason = gates_error_text(fd);
		return fd == -EACCES ? -EPERM : fd;
	}
	if (!elf_is_native(fd)) {
		*ret_reason = "it is a program with a different word size or machine "
			      "type";
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Return true if two processes share their memory, for example after vfork(2). */
static bool shares_memory(int pid, int other)
{
	return other > 0 && syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0) == 0;
}

static int check_process(const struct probe_request *request, const char **ret_reason)
{
	struct process process;
	int r;

	r = proc_stat_read(request->fs, request->pid, &process);
	if (r < 0)
		return r;
	if (process.start_ticks != request->start_ticks ||
	    !process_has_memory(&process)) {
		*ret_reason = "the process has exited";
		return -ESRCH;
	}
	if (request->pid == 1) {
		*ret_reason = "it is the init process";
		return -EOPNOTSUPP;
	}
	if (request->pid == getpid()) {
		*ret_reason = "it is memstate itself";
		return -EOPNOTSUPP;
	}
	if (shares_memory(request->pid, process.ppid)) {
		*ret_reason = "it shares its parent's memory, as after vfork()";
		return -EAGAIN;
	}
	return 0;
}

/*
 * Check that memstate can open all descriptors that it will need. Call this function
 * before changing the process.
 */
static int check_descriptors(int process_fd, const char **ret_reason)
{
	int fds[SPARE_DESCRIPTORS];
	size_t count = 0;
	int r = 0;

	for (; r == 0 && count < SPARE_DESCRIPTORS; count++) {
		fds[count] = fcntl(process_fd, F_DUPFD_CLOEXEC, 0);
		r = fds[count] < 0 ? -errno : 0;
	}
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (r < 0)
		*ret_reason = GATES_NO_DESCRIPTORS;
	return r;
}

const char *gates_error_text(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM: return GATES_NOT_ALLOWED;
	case -ENOENT:
	case -ESRCH: return "the process has exited";
	case -EMFILE:
	case -ENFILE: return GATES_NO_DESCRIPTORS;
	case -EUSERS:
		return "memstate may not start another process or thread: raise ulimit "
		       "-u or pids.max";
	case -ENOBUFS:
		return "memstate has no address space or memory for another thread: raise "
		       "ulimit -v";
	default: return strerror(-error);
	}
}

int gates_open_memory(int process_fd, const char **ret_reason)
{
	int fd = proc_dir_open_file(process_fd, PROC_MEM, O_RDWR);

	if (fd >= 0)
		return fd;
	*ret_reason = gates_error_text(fd);
	return fd == -EACCES ? -EPERM : fd;
}

int gates_check(const struct probe_request *request, int process_fd,
		const char **ret_reason)
{
	static const char unread[] = "it cannot be read";
	int r;

	*ret_reason = platform_unsupported_reason(PLATFORM_BORROW);
	if (*ret_reason)
		return -EOPNOTSUPP;
	*ret_reason = unread;
	if (!request->fs->is_live) {
		*ret_reason = "it is a capture";
		return -EOPNOTSUPP;
	}
	r = check_descriptors(process_fd, ret_reason);
	if (r == 0)
		r = check_process(request, ret_reason);
	if (r == 0)
		r = read_status(process_fd, ret_reason);
	if (r == 0)
		r = check_program(process_fd, ret_reason);
	if (r < 0 && *ret_reason == unread)
		*ret_reason = gates_error_text(r);
	return r;
}
