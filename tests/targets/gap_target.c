/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap_target - a process whose heap takes a while to read, and which measures its pauses.
 *
 * Prints "ready" when it has about 200 MB of small blocks. For each letter g
 * it prints "gap_ms", the longest time since the last g during which its
 * measuring thread did not run.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

#define BLOCK_COUNT 1600000
#define BLOCK_BYTES 112
#define NS_PER_MS 1000000
#define SECONDS_MAX 300

static uint64_t longest_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *measure(void *unused)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	uint64_t last_ns = now_ns();

	(void)unused;
	for (;;) {
		uint64_t next_ns;

		nanosleep(&pause, NULL);
		next_ns = now_ns();
		if (next_ns - last_ns > __atomic_load_n(&longest_ns, __ATOMIC_SEQ_CST))
			__atomic_store_n(&longest_ns, next_ns - last_ns,
					 __ATOMIC_SEQ_CST);
		last_ns = next_ns;
	}
	return NULL;
}

int main(void)
{
	static void *blocks[BLOCK_COUNT];
	pthread_t thread;
	char letter;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS_MAX);
	for (int i = 0; i < BLOCK_COUNT; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		if (!blocks[i])
			return 77;
		memset(blocks[i], i, BLOCK_BYTES);
	}
	if (pthread_create(&thread, NULL, measure, NULL))
		return 77;
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		say("gap_ms",
		    __atomic_exchange_n(&longest_ns, 0, __ATOMIC_SEQ_CST) / NS_PER_MS);
		say_word("done");
	}
	return 0;
}
