/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/send_signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "proc/process/stat.h"

#ifndef SYS_pidfd_open
/* system call numbers, which are the same on all architectures */
#	define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#	define SYS_pidfd_send_signal 424
#endif

static const struct {
	const char *name;
	int number;
} names[] = {
	{ "TERM", SIGTERM }, { "KILL", SIGKILL }, { "INT", SIGINT },
	{ "HUP", SIGHUP },   { "QUIT", SIGQUIT }, { "STOP", SIGSTOP },
	{ "CONT", SIGCONT }, { "TSTP", SIGTSTP }, { "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 }, { "ABRT", SIGABRT }, { "ALRM", SIGALRM },
	{ "SEGV", SIGSEGV }, { "BUS", SIGBUS },	  { "PIPE", SIGPIPE },
	{ "CHLD", SIGCHLD },
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

int signal_parse(const char *text, int *ret_number)
{
	uint64_t number;

	if (num_parse_u64(text, &number) == 0) {
		if (number == 0 || number > (uint64_t)SIGRTMAX)
			return -EINVAL;
		*ret_number = (int)number;
		return 0;
	}
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (strcasecmp(names[i].name, text) == 0) {
			*ret_number = names[i].number;
			return 0;
		}
	return -EINVAL;
}

void signal_add_name(struct strbuf *out, int number)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (names[i].number == number) {
			strbuf_addf(out, "SIG%s", names[i].name);
			return;
		}
	strbuf_addf(out, "signal %d", number);
}

void signal_add_names(struct strbuf *out)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		strbuf_addf(out, "%s%s", i > 0 ? " " : "", names[i].name);
}

int send_signal(const struct procfs *fs, const struct process *p, int number)
{
	_cleanup_close_ int fd = -1;
	struct process now;
	int r;

	if (!fs || !fs->is_live)
		return -EOPNOTSUPP;
	fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (fd < 0)
		return -errno;
	/*
	 * A pid is not reused before its process has been reaped. If the pid still
	 * belongs to the process now, the descriptor refers to that process.
	 */
	r = proc_stat_read(fs, p->pid, &now);
	if (r < 0)
		return r;
	if (!process_is_same(&now, p) || process_has_ended(&now))
		return -ESRCH;
	return syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) < 0 ? -errno : 0;
}
