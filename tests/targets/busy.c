/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that change all the time: exec, exit, mmap and munmap in a loop. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

static void use_some(void)
{
	size_t size = 64 * KIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		target_fail("mmap");
	target_write(p, size);
}

/* Execute a new program again and again, under the same pid. */
void exec_loop_run(char **args)
{
	char *argv[] = { (char *)"target", (char *)"exec-loop", (char *)"again", NULL };

	if (!args[0])
		target_ready();
	use_some();
	execv("/proc/self/exe", argv);
	target_fail("exec");
}

/* Start short-lived children. */
void exit_loop_run(char **args)
{
	int parent = getpid();

	(void)args;
	target_ready();
	for (;;) {
		const struct timespec moment = { .tv_nsec = 200 * 1000 };
		pid_t child = fork();

		if (child == 0) {
			target_bind_to_parent(parent);
			use_some();
			_exit(0);
		}
		if (child < 0)
			target_fail("fork");
		nanosleep(&moment, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* Make mappings of changing size and number, all over the address space. */
static void *churn(void *unused)
{
	enum {
		SLOTS = 64
	};
	struct {
		char *p;
		size_t size;
	} slots[SLOTS] = { 0 };
	unsigned int seed = (unsigned int)(uintptr_t)&slots;

	for (;;) {
		unsigned int i = (unsigned int)rand_r(&seed) % SLOTS;
		int protection = rand_r(&seed) % 2 ? PROT_READ | PROT_WRITE
						   : PROT_READ | PROT_WRITE | PROT_EXEC;

		if (slots[i].p)
			munmap(slots[i].p, slots[i].size);
		slots[i].size = ((size_t)rand_r(&seed) % 32 + 1) * target_page_size();
		slots[i].p = mmap(NULL, slots[i].size, protection,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (slots[i].p == MAP_FAILED)
			target_fail("mmap");
		target_write(slots[i].p, slots[i].size);
	}
	return unused;
}

void churn_run(char **args)
{
	for (size_t i = 0; i < target_number(args[0]); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, churn, NULL) != 0)
			target_fail("pthread_create");
	}
}
