/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/heap_problem.h"

#include <errno.h>
#include <string.h>

#define TRACE_RIGHT                                                                          \
	"run memstate as its user, with a kernel.yama.ptrace_scope that allows it, or with " \
	"CAP_SYS_PTRACE"

static const struct {
	int error;
	const char *text, *help;
} reasons[] = {
	{ -EACCES, "no permission to stop it", TRACE_RIGHT },
	{ -EPERM, "no permission to stop it", TRACE_RIGHT },
	{ -ESRCH, "the process has exited", NULL },
	{ -EBUSY, "another tracer is attached (a debugger, strace)",
	  "detach the other tracer" },
	{ -EFBIG, "it would be paused for too long",
	  "allow a longer pause with --max-pause" },
	{ -ETIME,
	  "reading its memory hangs in the kernel; the process itself keeps "
	  "running",
	  NULL },
	{ -ETIMEDOUT, "it took longer than --max-pause",
	  "allow a longer pause with --max-pause" },
	{ -EAGAIN,
	  "one of its threads is in an uninterruptible sleep (vfork, a frozen cgroup, "
	  "a slow disk)",
	  NULL },
	{ -EUSERS, "memstate may not start another process or thread",
	  "raise ulimit -u or pids.max" },
	{ -ENOBUFS, "memstate has no address space or memory for another thread",
	  "raise ulimit -v" },
	{ -ENOMEM, "not enough free memory for a copy of its memory", NULL },
	{ -ESTALE, "its memory changed while it was paused", NULL },
	{ -EINPROGRESS, "the walk is not finished", NULL },
	{ -ENODATA, "too soon after the last walk: walks are limited by --max-share",
	  NULL },
	{ -EOPNOTSUPP, "only live 64-bit programs can be walked", NULL },
	{ -ENOEXEC, "heaps can be walked only on x86-64 with pages of 4096 bytes", NULL },
	{ -EOVERFLOW, "it has memory at addresses above 47 bits, which is not supported",
	  NULL },
};

#define REASON_COUNT (sizeof(reasons) / sizeof(reasons[0]))

static size_t find_reason(int error)
{
	size_t i = 0;

	while (i < REASON_COUNT && reasons[i].error != error)
		i++;
	return i;
}

const char *heap_error_text(int error)
{
	size_t i = find_reason(error);

	return i < REASON_COUNT ? reasons[i].text : strerror(-error);
}

const char *heap_error_help(int error)
{
	size_t i = find_reason(error);

	return i < REASON_COUNT ? reasons[i].help : NULL;
}

const char *heap_problem_text(const struct usage *u)
{
	bool is_waiting = u->heap_error == -EINPROGRESS || u->heap_error == -ENODATA;

	if (u->heap_error == 0 || (is_waiting && u->heap_quality != QUALITY_UNKNOWN))
		return u->heap_problem;
	return heap_error_text(u->heap_error);
}
