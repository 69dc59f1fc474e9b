/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>

#include "../support/unit.h"

static int create_error, mmap_error;
static sem_t ended;
static sigset_t blocked;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*work)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*work)(void *), void *context);
void *__real_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*work)(void *), void *context)
{
	return create_error ? create_error
			    : __real_pthread_create(thread, attributes, work, context);
}

void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (!mmap_error)
		return __real_mmap(addr, bytes, prot, flags, fd, offset);
	assert_true(bytes >= 16384);
	errno = mmap_error;
	return MAP_FAILED;
}

static void *work(void *context)
{
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	sem_post(&ended);
	return context;
}

/* Wait until no other thread runs: valgrind reports the stacks of threads as lost. */
static void wait_until_alone(void)
{
	size_t count;

	do {
		DIR *dir = opendir("/proc/self/task");

		assert_non_null(dir);
		for (count = 0; readdir(dir); count++)
			;
		closedir(dir);
	} while (count > 3); /* ".", ".." and this thread */
}

static void a_thread_runs_with_all_signals_blocked(void **state)
{
	sigset_t before, after;
	pthread_t thread;
	void *result;

	(void)state;
	create_error = mmap_error = 0;
	assert_int_equal(sem_init(&ended, 0, 0), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(thread_start(&thread, work, &ended), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &ended);
	assert_true(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGTSTP));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
	assert_int_equal(sem_trywait(&ended), 0);
	/* a detached thread */
	assert_int_equal(thread_start(NULL, work, NULL), 0);
	while (sem_wait(&ended) < 0)
		;
	wait_until_alone();
	sem_destroy(&ended);
}

static void the_reason_for_a_missing_thread_is_found(void **state)
{
	static const struct {
		int create_error, mmap_error, result;
	} rows[] = {
		{ EAGAIN, 0, -EUSERS },
		{ EAGAIN, ENOMEM, -ENOBUFS },
		{ EPERM, 0, -EPERM },
		{ EPERM, ENOMEM, -EPERM },
	};
	pthread_t thread;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r;

		create_error = rows[i].create_error;
		mmap_error = rows[i].mmap_error;
		r = thread_start(&thread, work, NULL);
		create_error = mmap_error = 0;
		assert_int_equal(r, rows[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_runs_with_all_signals_blocked),
		cmocka_unit_test(the_reason_for_a_missing_thread_is_found),
	};

	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
