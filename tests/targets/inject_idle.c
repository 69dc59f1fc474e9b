/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A main thread that waits, while old return addresses into malloc() lie on its stack, as
 * in most programs. "idle CALL" is "call CALL" with such words on the stack. "idle
 * handler" waits in a signal handler that interrupted the program's own code; at the
 * letter u it returns, and the program counts.
 */
#include "config.h"

#include "inject_target.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

enum {
	OLD_WORDS = 64
};

static volatile sig_atomic_t was_handled;

static void count_for_ever(void)
{
	for (;;) {
		void *volatile p = malloc(100);

		free(p);
		count_one(0);
	}
}

static void handle(int number)
{
	char letter;

	(void)number;
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	while (read(STDIN_FILENO, &letter, 1) == 1 && letter != 'u')
		;
	was_handled = 1;
}

static void wait_in_handler(void)
{
	struct sigaction action = { .sa_handler = handle };

	if (sigaction(SIGUSR1, &action, NULL))
		failed("sigaction");
	shown->counter_count = 1;
	target_is_ready();
	kill(getpid(), SIGUSR1);
	while (!was_handled)
		;
	count_for_ever();
}

void idle_run(const char *argument)
{
	uintptr_t words[OLD_WORDS];

	for (size_t i = 0; i < OLD_WORDS; i++)
		words[i] = (uintptr_t)malloc + 16;
	__asm__ volatile("" : : "r"(words) : "memory");
	have_heap();
	if (strcmp(argument, "handler") == 0)
		wait_in_handler();
	else
		call_run(argument);
	__asm__ volatile("" : : "r"(words) : "memory");
}
