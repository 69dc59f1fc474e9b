/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes with seccomp filters, and processes that see a different file system. */
#include "config.h"

#include "inject_target.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_and_count(void)
{
	for (;;) {
		poll(NULL, 0, 1);
		count_one(0);
	}
}

static const struct action {
	const char *name;
	uint32_t matching, others;
} actions[] = {
	{ "errno", SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW },
	{ "trap", SECCOMP_RET_TRAP, SECCOMP_RET_ALLOW },
	{ "kill", SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW },
	/* an allow-list: poll and similar calls, and nothing else */
	{ "allow", SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS },
};

static void filter(const struct action *action, uint32_t number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action->matching),
		BPF_STMT(BPF_RET | BPF_K, action->others),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		cannot("no filters of system calls here");
}

void filtered_run(const char *argument)
{
	size_t length = strcspn(argument, ":");

	have_heap();
	shown->counter_count = 1;
	if (!argument[length])
		failed(argument);
	target_is_ready();
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strlen(actions[i].name) == length &&
		    strncmp(actions[i].name, argument, length) == 0) {
			filter(&actions[i], (uint32_t)number_of(argument + length + 1));
			__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
			wait_and_count();
		}
	failed(argument);
}

/* Use a separate mount namespace, and ARGUMENT as an empty root: no /proc, no libc. */
void rooted_run(const char *argument)
{
	have_heap();
	shown->counter_count = 1;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", argument, "tmpfs", MS_RDONLY, NULL) || chroot(argument) ||
	    chdir("/"))
		cannot("no root of its own here");
	target_is_ready();
	wait_and_count();
}
