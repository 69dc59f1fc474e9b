/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * say - prints a target's figures without buffers from malloc.
 */
#ifndef MS_TESTS_SAY_H
#define MS_TESTS_SAY_H

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Print "KEY VALUE". */
static inline void say(const char *key, uint64_t value)
{
	char line[96];
	int length = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", key, value);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(99);
}

/* Print the word on a line. */
static inline void say_word(const char *word)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "%s\n", word);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(99);
}

#endif
