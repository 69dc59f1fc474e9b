/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/*
 * Minimum stack size of a thread. A heap walk needs more than musl's default, and more
 * than a small RLIMIT_STACK allows.
 */
#define STACK_MIN_BYTES ((size_t)1 << 20)

static void ensure_stack_size(pthread_attr_t *attributes)
{
	size_t stack_bytes = 0;

	pthread_attr_getstacksize(attributes, &stack_bytes);
	if (stack_bytes < STACK_MIN_BYTES)
		pthread_attr_setstacksize(attributes, STACK_MIN_BYTES);
}

/*
 * Return true if there is address space for the stack of another thread. The error of
 * pthread_create() does not show this cause: glibc returns EAGAIN even if mmap() failed
 * with ENOMEM.
 */
static bool has_room(const pthread_attr_t *attributes)
{
	size_t stack_bytes = 0, guard_bytes = 0;
	void *stack;

	pthread_attr_getstacksize(attributes, &stack_bytes);
	pthread_attr_getguardsize(attributes, &guard_bytes);
	stack = mmap(NULL, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return false;
	munmap(stack, stack_bytes + guard_bytes);
	return true;
}

int thread_start(pthread_t *ret, void *(*work)(void *context), void *context)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	ensure_stack_size(&attributes);
	if (!ret)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, work, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err == EAGAIN)
		err = has_room(&attributes) ? EUSERS : ENOBUFS;
	pthread_attr_destroy(&attributes);
	if (!err && ret)
		*ret = thread;
	return -err;
}

unsigned int thread_count_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0
		       ? (unsigned int)CPU_COUNT(&cpus)
		       : 1;
}
