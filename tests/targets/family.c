/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes with children: shared pages, zombies, several generations. */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

/* The child writes, then reports through the pipe; then both processes wait. */
void cow_run(char **args)
{
	size_t total = target_number(args[0]);
	size_t written = target_number(args[1]);
	char *p = target_map_anonymous(total);
	int parent = getpid();
	char byte;
	int fds[2];
	pid_t child;

	target_write(p, total);
	if (pipe(fds) < 0)
		target_fail("pipe");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		target_bind_to_parent(parent);
		target_write(p, written);
		if (write(fds[1], "", 1) != 1)
			target_fail("pipe");
		target_wait();
	}
	close(fds[1]);
	if (child < 0 || read(fds[0], &byte, 1) != 1)
		target_fail("child");
	target_say("child", (uint64_t)child);
	target_say("rss_bytes", total);
	target_say("private_dirty_bytes", written);
	target_say("shared_dirty_bytes", total - written);
}

void zombie_run(char **args)
{
	siginfo_t info;
	pid_t child = fork();

	(void)args;
	if (child == 0)
		_exit(0);
	if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
		target_fail("child");
	target_say("child", (uint64_t)child);
}

static pthread_t first_thread;

static void *live_on(void *args)
{
	size_t size = target_number(*(char **)args);

	/* the first thread's setting is lost when it ends */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	target_write(target_map_anonymous(size), size);
	pthread_join(first_thread, NULL);
	target_ready();
	target_wait();
}

/* The first thread ends; another thread continues. */
void leaderless_run(char **args)
{
	pthread_t thread;

	first_thread = pthread_self();
	if (pthread_create(&thread, NULL, live_on, args))
		target_fail("thread");
	pthread_exit(NULL);
}

static void have_children(const char *key, size_t count, size_t grandchildren)
{
	for (size_t i = 0; i < count; i++) {
		int parent = getpid();
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child < 0)
			target_fail("fork");
		if (child == 0) {
			target_bind_to_parent(parent);
			have_children("grandchild", grandchildren, 0);
			fflush(stdout);
			target_wait();
		}
		target_say(key, (uint64_t)child);
	}
}

/*
 * Grandchildren may not exist yet when "ready" is printed; the test knows their number.
 */
void family_run(char **args)
{
	have_children("child", target_number(args[0]), target_number(args[1]));
}
