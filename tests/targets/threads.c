/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads with stacks of all kinds. mincore() supplies the resident part of a stack. */
#include "config.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

#define STACK_SIZE (512 * KIB)
#define LARGE_GUARD (4 * MIB)
#define THREADS_MAX 64

enum end {
	END_WAIT,
	END_SPIN,
	END_EXIT
};

static const struct kind {
	const char *name;
	size_t guard_size;
	bool is_own_stack; /* mapped by the target like any other memory */
	enum end end;
} kinds[] = {
	{ "plain", 4 * KIB, false, END_WAIT },
	{ "no-guard", 0, false, END_WAIT },
	{ "large-guard", LARGE_GUARD, false, END_WAIT },
	{ "own-stack", 0, true, END_WAIT },
	{ "spinning", 4 * KIB, false, END_SPIN },
	{ "exited", 4 * KIB, false, END_EXIT },
};

struct stack {
	const struct kind *kind;
	size_t touch;
	char *start;
	size_t size;
	sem_t is_set_up;
	pthread_t thread;
};

static struct stack stacks[THREADS_MAX];

static __attribute__((noinline)) char go_down(size_t size)
{
	volatile char frame[4096];

	/*
	 * A variable index, used after the call, keeps clang from removing
	 * the frame or the recursion.
	 */
	frame[size % sizeof(frame)] = (char)size;
	if (size > sizeof(frame))
		frame[size % sizeof(frame)] = go_down(size - sizeof(frame));
	return frame[0];
}

static void *live(void *arg)
{
	struct stack *s = arg;
	pthread_attr_t attr;
	void *start;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &start, &s->size);
	pthread_attr_destroy(&attr);
	s->start = start;
	go_down(s->touch);
	sem_post(&s->is_set_up);
	while (s->kind->end == END_SPIN)
		;
	while (s->kind->end == END_WAIT)
		pause();
	return NULL;
}

static void start_thread(struct stack *s)
{
	pthread_attr_t attr;

	sem_init(&s->is_set_up, 0, 0);
	pthread_attr_init(&attr);
	if (s->kind->is_own_stack) {
		char *p = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			target_fail("mmap");
		pthread_attr_setstack(&attr, p, STACK_SIZE);
	} else {
		pthread_attr_setstacksize(&attr, STACK_SIZE + s->kind->guard_size);
		pthread_attr_setguardsize(&attr, s->kind->guard_size);
	}
	if (pthread_create(&s->thread, &attr, live, s) != 0)
		target_fail("pthread_create");
	pthread_attr_destroy(&attr);
}

static void say_stack(const struct stack *s)
{
	static unsigned char pages[(STACK_SIZE + LARGE_GUARD) / (4 * KIB)];
	size_t page = target_page_size();
	size_t resident = 0;

	if (s->size > STACK_SIZE + LARGE_GUARD || mincore(s->start, s->size, pages) < 0)
		target_fail("mincore");
	for (size_t i = 0; i < s->size / page; i++)
		resident += (pages[i] & 1) * page;
	target_say("stack_start", (uintptr_t)s->start);
	target_say("stack_end", (uintptr_t)s->start + s->size);
	target_say("stack_resident", resident);
}

void threads_run(char **args)
{
	size_t count = target_number(args[1]);
	const struct kind *kind = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, args[0]) == 0)
			kind = &kinds[i];
	if (!kind || count > THREADS_MAX)
		target_fail(args[0]);
	for (size_t i = 0; i < count; i++) {
		stacks[i].kind = kind;
		stacks[i].touch = target_number(args[2]);
		start_thread(&stacks[i]);
	}
	for (size_t i = 0; i < count; i++) {
		sem_wait(&stacks[i].is_set_up);
		if (kind->end == END_EXIT)
			pthread_join(stacks[i].thread, NULL);
	}
	for (size_t i = 0; i < count; i++)
		say_stack(&stacks[i]);
}
