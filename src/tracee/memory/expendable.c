/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/expendable.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"

#define NICE_MIN (-20)

struct expendable {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* the work to do, or NULL while the thread waits for work */
	int (*work)(void *context);
	void *context;
	int result;
	/* a function that the owner must call on behalf of the thread, or NULL */
	int (*owner_work)(void *argument);
	void *owner_argument;
	int owner_result;
	bool is_waited_for; /* true while the owner waits in expendable_wait() */
	bool is_ended, is_abandoned;
	void (*free_context)(void *context);
};

static void free_expendable(struct expendable *e)
{
	pthread_cond_destroy(&e->changed);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void *serve(void *arg)
{
	struct expendable *e = arg;
	bool is_abandoned;

	/* raise the priority: the target process stays stopped while this thread works */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_MIN);
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	pthread_mutex_lock(&e->lock);
	while (!e->is_ended) {
		int result;

		if (!e->work) {
			pthread_cond_wait(&e->changed, &e->lock);
			continue;
		}
		pthread_mutex_unlock(&e->lock);
		result = e->work(e->context);
		pthread_mutex_lock(&e->lock);
		e->work = NULL;
		e->result = result;
		pthread_cond_broadcast(&e->changed);
	}
	is_abandoned = e->is_abandoned;
	pthread_mutex_unlock(&e->lock);
	if (is_abandoned) {
		if (e->free_context)
			e->free_context(e->context);
		free_expendable(e);
	}
	return NULL;
}

int expendable_new(struct expendable **ret)
{
	struct expendable *e = xcalloc(1, sizeof(*e));
	pthread_condattr_t monotonic;
	int r;

	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&e->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	r = thread_start(&e->thread, serve, e);
	if (r < 0) {
		free_expendable(e);
		return r;
	}
	*ret = e;
	return 0;
}

void expendable_run(struct expendable *e, int (*work)(void *context), void *context)
{
	pthread_mutex_lock(&e->lock);
	e->context = context;
	e->work = work;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

static void serve_owner_work(struct expendable *e)
{
	int (*work)(void *argument) = e->owner_work;
	void *argument = e->owner_argument;
	int result;

	pthread_mutex_unlock(&e->lock);
	result = work(argument);
	pthread_mutex_lock(&e->lock);
	e->owner_result = result;
	e->owner_work = NULL;
	pthread_cond_broadcast(&e->changed);
}

bool expendable_wait(struct expendable *e, uint64_t until_ns, int *ret_result)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
					.tv_nsec = (long)(until_ns % NS_PER_S) };
	bool is_done;
	int err = 0;

	pthread_mutex_lock(&e->lock);
	e->is_waited_for = true;
	while (e->work && err != ETIMEDOUT) {
		if (e->owner_work)
			serve_owner_work(e);
		else
			err = pthread_cond_timedwait(&e->changed, &e->lock, &until);
	}
	e->is_waited_for = false;
	if (e->owner_work) {
		e->owner_work = NULL;
		e->owner_result = -ETIMEDOUT;
		pthread_cond_broadcast(&e->changed);
	}
	is_done = !e->work;
	if (is_done)
		*ret_result = e->result;
	pthread_mutex_unlock(&e->lock);
	return is_done;
}

int expendable_call_owner(struct expendable *e, int (*function)(void *argument),
			  void *argument)
{
	int result = -ETIMEDOUT;

	pthread_mutex_lock(&e->lock);
	if (e->is_waited_for) {
		e->owner_work = function;
		e->owner_argument = argument;
		pthread_cond_broadcast(&e->changed);
		while (e->owner_work)
			pthread_cond_wait(&e->changed, &e->lock);
		result = e->owner_result;
	}
	pthread_mutex_unlock(&e->lock);
	return result;
}

bool expendable_end(struct expendable *e, void (*free_context)(void *context))
{
	bool is_busy;

	pthread_mutex_lock(&e->lock);
	is_busy = e->work != NULL;
	e->is_ended = true;
	e->is_abandoned = is_busy;
	e->free_context = free_context;
	if (is_busy)
		pthread_detach(e->thread);
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
	if (is_busy)
		return false;
	pthread_join(e->thread, NULL);
	free_expendable(e);
	return true;
}
