/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "inject_target.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

static const struct inject_behaviour behaviours[] = {
	{ "churn", churn_run },		{ "still", still_run },
	{ "spin", spin_run },		{ "chunks", chunks_run },
	{ "call", call_run },		{ "idle", idle_run },
	{ "registers", registers_run }, { "rseq", rseq_run },
	{ "parked", parked_run },	{ "filtered", filtered_run },
	{ "traced", traced_run },	{ "not-dumpable", dumpable_run },
	{ "rooted", rooted_run },	{ "forks", forks_run },
	{ "vforks", vforks_run },	{ "vforked", vforked_run },
	{ "execs", execs_run },		{ "ends", ends_run },
	{ "no-main", no_main_run },
};

struct shown *shown;
int shown_fd;
const char *own_path;

void target_is_ready(void)
{
	say("pid", (uint64_t)getpid());
	say_word("ready");
}

_Noreturn void cannot(const char *what)
{
	fprintf(stderr, "%s\n", what);
	_exit(77);
}

_Noreturn void failed(const char *what)
{
	perror(what);
	_exit(99);
}

unsigned long number_of(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end)
		failed(text);
	return value;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

void count_one(unsigned long i)
{
	__atomic_fetch_add(&shown->counters[i][0], 1, __ATOMIC_RELAXED);
}

void have_heap(void)
{
	void *volatile p = malloc(1);

	free(p);
}

struct start {
	void *(*run)(void *);
	void *argument;
	sem_t has_begun;
};

static void *begin(void *arg)
{
	struct start *start = arg;
	const struct start copy = *start;

	sem_post(&start->has_begun);
	return copy.run(copy.argument);
}

void start_thread(void *(*run)(void *), void *argument)
{
	struct start start = { .run = run, .argument = argument };
	pthread_t id;

	if (sem_init(&start.has_begun, 0, 0) || pthread_create(&id, NULL, begin, &start))
		failed("pthread_create");
	while (sem_wait(&start.has_begun))
		;
}

static void show(int fd)
{
	int flags = fd ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;

	shown_fd = fd;
	shown = mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, flags, fd ? fd : -1,
		     0);
	if (shown == MAP_FAILED)
		failed("mmap");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 99;
	own_path = argv[0];
	alarm(INJECT_TARGET_SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	show((int)number_of(argv[3]));
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
		if (strcmp(behaviours[i].name, argv[1]) == 0) {
			behaviours[i].run(argv[2]);
			return 0;
		}
	return 99;
}
