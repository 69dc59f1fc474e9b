/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that fork, execute other programs, and end. */
#include "config.h"

#include "inject_target.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static void *allocate_for_ever(void *arg)
{
	unsigned long id = (uintptr_t)arg;
	void *volatile blocks[64] = { 0 };

	for (unsigned long i = 0;; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(i * 37 % 5000 + 1);
		count_one(id);
		if (i % 512 == 0)
			usleep(200);
	}
	return NULL;
}

/* A child must be able to allocate, whatever the other threads were doing. */
_Noreturn static void be_child(void)
{
	for (int i = 0; i < 20; i++) {
		char *volatile p = malloc((size_t)i * 1000 + 1);

		if (!p)
			_exit(1);
		memset(p, i, (size_t)i * 1000 + 1);
		free(p);
	}
	_exit(0);
}

/*
 * N threads allocate while the main thread forks. Every 50th time,
 * setuid() signals all threads.
 */
void forks_run(const char *argument)
{
	unsigned long count = number_of(argument);

	shown->counter_count = count + 1;
	for (unsigned long i = 1; i <= count; i++)
		start_thread(allocate_for_ever, (void *)(uintptr_t)i);
	target_is_ready();
	for (unsigned long i = 0;; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0)
			be_child();
		waitpid(child, &status, 0);
		shown->wrong += status != 0;
		if (i % 50 == 0)
			shown->wrong += setuid(getuid()) != 0;
		count_one(0);
	}
}

void vforks_run(const char *argument)
{
	char *const argv[] = { (char *)"true", NULL };

	(void)argument;
	have_heap();
	shown->counter_count = 1;
	target_is_ready();
	for (;;) {
		int status = -1;
		pid_t child = vfork();

		if (child == 0) {
			execv("/bin/true", argv);
			_exit(1);
		}
		waitpid(child, &status, 0);
		shown->wrong += status != 0;
		count_one(0);
	}
}

/* The parent waits in vfork() for its child, which does not end. */
void vforked_run(const char *argument)
{
	pid_t child;

	(void)argument;
	have_heap();
	say("parent", (uint64_t)getpid());
	child = vfork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		target_is_ready();
		for (;;)
			pause();
	}
	waitpid(child, NULL, 0);
}

/* Execute itself as often as time permits; ARGUMENT is the round. */
void execs_run(const char *argument)
{
	unsigned long round = number_of(argument);
	char next[24], fd[24];
	char *const argv[] = { (char *)own_path, (char *)"execs", next, fd, NULL };

	if (round == 0)
		target_is_ready();
	shown->counter_count = 1;
	start_thread(allocate_for_ever, (void *)(uintptr_t)2);
	count_one(0);
	poll(NULL, 0, (int)(round * 7 % 40));
	snprintf(next, sizeof(next), "%lu", round + 1);
	snprintf(fd, sizeof(fd), "%d", shown_fd);
	execv(own_path, argv);
	failed("exec");
}

/* Start one child after the other; each prints its pid and ends soon. */
void ends_run(const char *argument)
{
	(void)argument;
	have_heap();
	shown->counter_count = 1;
	target_is_ready();
	for (unsigned long i = 0;; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			__atomic_store_n(&shown->is_in_call, (uint64_t)getpid(),
					 __ATOMIC_RELEASE);
			start_thread(allocate_for_ever, (void *)(uintptr_t)2);
			poll(NULL, 0, (int)(i * 7 % 40));
			exit(0);
		}
		waitpid(child, &status, 0);
		shown->wrong += status != 0;
		count_one(0);
	}
}

static void *wait_for_ever(void *unused)
{
	for (;;) {
		poll(NULL, 0, 1);
		count_one(0);
	}
	return unused;
}

void no_main_run(const char *argument)
{
	(void)argument;
	have_heap();
	shown->counter_count = 1;
	start_thread(wait_for_ever, NULL);
	target_is_ready();
	pthread_exit(NULL);
}
