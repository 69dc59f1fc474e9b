/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/runtime_programs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum runtime runtime;
} programs[] = {
	{ "java", RUNTIME_JAVA },	    { "node", RUNTIME_NODE },
	{ "nodejs", RUNTIME_NODE },	    { "postgres", RUNTIME_POSTGRES },
	{ "postmaster", RUNTIME_POSTGRES }, { "mysqld", RUNTIME_MYSQL },
	{ "mariadbd", RUNTIME_MYSQL },	    { "redis-server", RUNTIME_REDIS },
	{ "valkey-server", RUNTIME_REDIS }, { "php", RUNTIME_PHP },
	{ "php-cgi", RUNTIME_PHP },
};

const char *runtime_next_word(const char *text, char word[RUNTIME_WORD_SIZE])
{
	size_t length;

	text += strspn(text, " \t\n");
	length = strcspn(text, " \t\n");
	if (length == 0)
		return NULL;
	/* no option is that long, so copy only the first byte of a longer word */
	snprintf(word, RUNTIME_WORD_SIZE, "%.*s",
		 length < RUNTIME_WORD_SIZE ? (int)length : 1, text);
	return text + length;
}

/*
 * Return true if base is the name of the program. For PHP, a version may follow the
 * name, as in "php8.2".
 */
static bool is_program(const char *base, const char *name, enum runtime runtime)
{
	size_t length = strlen(name);

	if (strncmp(base, name, length) != 0)
		return false;
	base += length;
	return base[runtime == RUNTIME_PHP ? strspn(base, "0123456789.") : 0] == '\0';
}

enum runtime runtime_of_command(const char *command)
{
	char word[RUNTIME_WORD_SIZE];
	const char *base;

	if (!command || !runtime_next_word(command, word))
		return RUNTIME_NONE;
	base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (is_program(base, programs[i].name, programs[i].runtime))
			return programs[i].runtime;
	return RUNTIME_NONE;
}
