/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/rescue.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int crashes[] = {
	SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP, SIGQUIT, SIGXCPU,
};

#define CRASH_COUNT (sizeof(crashes) / sizeof(crashes[0]))

/* Everything that the handler of crash signals needs, prepared in advance. */
static struct {
	volatile sig_atomic_t is_on;
	struct termios modes;
	char bytes[256]; /* escape sequences that reset the terminal */
	size_t length;
	struct sigaction before[CRASH_COUNT];
} rescue;

/*
 * Stack for the signal handler, which cannot use the normal stack after a stack overflow.
 */
static char alternate_stack[32768];

void rescue_terminal(void)
{
	ssize_t written;

	if (!rescue.is_on)
		return;
	rescue.is_on = 0;
	written = write(STDOUT_FILENO, rescue.bytes, rescue.length);
	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
}

/*
 * Restore the terminal, and end memstate with the same signal as if it had not
 * been caught.
 */
static void crash(int number)
{
	rescue_terminal();
	for (size_t i = 0; i < CRASH_COUNT; i++)
		if (crashes[i] == number)
			sigaction(number, &rescue.before[i], NULL);
	raise(number);
}

void rescue_begin(const struct termios *modes, const char *bytes, size_t length)
{
	struct sigaction action = { .sa_handler = crash, .sa_flags = SA_ONSTACK };
	const stack_t stack = { .ss_sp = alternate_stack,
				.ss_size = sizeof(alternate_stack) };

	rescue.modes = *modes;
	rescue.length = length < sizeof(rescue.bytes) ? length : sizeof(rescue.bytes);
	memcpy(rescue.bytes, bytes, rescue.length);
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crashes[i], &action, &rescue.before[i]);
	rescue.is_on = 1;
}

void rescue_end(void)
{
	rescue.is_on = 0;
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crashes[i], &rescue.before[i], NULL);
}
