/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "stopped_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define SHARED_FD 99 /* kept open across execve() */

struct shared *shared;
uint64_t last_pause_ns;

void map_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      SHARED_FD, 0);
}

int set_up(void **state)
{
	static struct target target;
	int fd = memfd_create("shared", 0);

	if (fd < 0 || dup2(fd, SHARED_FD) < 0 || close(fd) < 0 ||
	    ftruncate(SHARED_FD, sizeof(*shared)) < 0)
		return -1;
	map_shared();
	target = (struct target){ -1, -1 };
	*state = &target;
	return shared == MAP_FAILED ? -1 : 0;
}

void end(struct target *target)
{
	if (target->pid > 0) {
		kill(target->pid, SIGKILL);
		waitpid(target->pid, NULL, 0);
	}
	if (target->task_fd >= 0)
		close(target->task_fd);
	*target = (struct target){ -1, -1 };
}

int tear_down(void **state)
{
	end(*state);
	close(SHARED_FD);
	return munmap(shared, sizeof(*shared));
}

/* Run behave() in a child process until the test ends it, and wait until it is ready. */
void begin(struct target *target, void (*behave)(void))
{
	char path[64];

	shared->is_ready = 0;
	target->pid = fork();
	if (target->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(SECONDS);
		behave();
		_exit(99);
	}
	assert_true(target->pid > 0);
	snprintf(path, sizeof(path), "/proc/%d/task", target->pid);
	target->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(target->task_fd >= 0);
	while (!shared->is_ready) {
		assert_int_equal(waitpid(target->pid, NULL, WNOHANG), 0);
		usleep(20);
	}
}

void start_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attr, run, NULL))
		_exit(98);
	pthread_attr_destroy(&attr);
}

int run_work(struct target *target, uint64_t limit_ns,
	     int (*work)(void *, const struct stop *))
{
	const struct stop_request request = {
		.pid = target->pid,
		.task_fd = target->task_fd,
		.limit_ns = limit_ns,
		.work = work,
		.context = target,
	};

	return stop_run(&request, &last_pause_ns);
}

/*
 * Return the number of threads. *ret_in_states is the number of those whose state
 * letter, as in /proc, is in states.
 */
size_t count_threads(const struct target *target, const char *states,
		     size_t *ret_in_states)
{
	int fd = openat(target->task_fd, ".", O_RDONLY | O_DIRECTORY);
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	size_t count = 0;

	*ret_in_states = 0;
	while ((entry = readdir(dir))) {
		char path[300], text[1024] = "";
		int stat_fd;
		char *end_of_name;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		stat_fd = openat(target->task_fd, path, O_RDONLY);
		if (stat_fd < 0 || read(stat_fd, text, sizeof(text) - 1) <= 0)
			text[0] = '\0';
		if (stat_fd >= 0)
			close(stat_fd);
		end_of_name = strrchr(text, ')');
		if (!end_of_name)
			continue;
		count++;
		*ret_in_states += strchr(states, end_of_name[2]) != NULL;
	}
	closedir(dir);
	return count;
}

bool goes_on(void)
{
	uint64_t before = shared->steps;

	for (int i = 0; i < SECONDS * 1000 && shared->steps == before; i++)
		usleep(1000);
	return shared->steps != before;
}

void *count_steps(void *unused)
{
	(void)unused;
	for (;;) {
		__atomic_fetch_add(&shared->steps, 1, __ATOMIC_RELAXED);
		usleep(20000);
	}
	return NULL;
}

void be_many(void)
{
	for (int i = 1; i < THREADS_MANY; i++)
		start_thread(count_steps);
	shared->is_ready = 1;
	count_steps(NULL);
}
