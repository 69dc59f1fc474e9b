/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/process_name.h"

#include <fnmatch.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* Longer names are not file names (NAME_MAX). */
#define NAME_LENGTH_MAX 255

struct text {
	const char *begin;
	size_t length;
};

/* Remove the first argument from the rest and return it. Its begin is NULL at the end. */
static struct text take_argument(struct text *rest)
{
	struct text argument = { NULL, 0 };

	if (rest->length == 0)
		return argument;
	argument.begin = rest->begin;
	argument.length = strnlen(rest->begin, rest->length);
	rest->begin += argument.length;
	rest->length -= argument.length;
	if (rest->length > 0) {
		rest->begin++;
		rest->length--;
	}
	return argument;
}

static struct text find_file_name(struct text path)
{
	for (size_t i = path.length; i > 0; i--)
		if (path.begin[i - 1] == '/')
			return (struct text){ path.begin + i, path.length - i };
	return path;
}

static bool is_equal(struct text text, const char *word)
{
	return strlen(word) == text.length && memcmp(text.begin, word, text.length) == 0;
}

static bool is_any(struct text text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_equal(text, words[i]))
			return true;
	return false;
}

#define IS_ANY(text, words) is_any(text, words, sizeof(words) / sizeof((words)[0]))

/* Return true if this is the program of a language, such as python3.11. */
static bool is_interpreter(struct text program)
{
	static const char *const interpreters[] = {
		"ash",	"bash", "bun",	 "dash", "deno",   "guile",  "java",
		"ksh",	"lua",	"node",	 "php",	 "nodejs", "perl",   "pypy",
		"ruby", "sh",	"tclsh", "zsh",	 "python", "Rscript"
	};

	while (program.length > 0 &&
	       strchr("0123456789.", program.begin[program.length - 1]))
		program.length--;
	return IS_ANY(program, interpreters);
}

/*
 * Return the name of the script among the arguments of an interpreter: the file name of
 * the first argument that is not an option, or the module of "python -m".
 */
static struct text find_script(struct text rest)
{
	static const char *const code[] = { "-c", "-e", "-E", "--eval", "-p", "-r" };
	static const char *const with_value[] = {
		"-W", "-X", "-o", "-I", "-cp", "-classpath", "-d", "--require"
	};
	static const char *const before_script[] = { "-m", "-jar", "-f" };
	const struct text none = { NULL, 0 };
	struct text argument;

	while ((argument = take_argument(&rest)).begin) {
		if (IS_ANY(argument, code))
			return none;
		if (IS_ANY(argument, before_script))
			return find_file_name(take_argument(&rest));
		if (IS_ANY(argument, with_value))
			(void)take_argument(&rest);
		else if (argument.length > 0 && argument.begin[0] != '-')
			return find_file_name(argument);
	}
	return none;
}

/*
 * Return the file name of the program in the first argument. A login shell's argument
 * begins with '-', and titles such as "nginx: worker process" contain a colon.
 */
static struct text find_program(struct text argument)
{
	size_t length = 0;

	if (argument.length > 0 && argument.begin[0] == '-')
		argument = (struct text){ argument.begin + 1, argument.length - 1 };
	if (argument.length > 0 && argument.begin[0] == '/')
		return find_file_name(argument);
	while (length < argument.length && argument.begin[length] != ':' &&
	       argument.begin[length] != ' ')
		length++;
	argument.length = length;
	return find_file_name(argument);
}

void process_names_find(const char *comm, const char *arguments, size_t length,
			struct process_names *ret)
{
	struct text rest = { arguments, length };
	struct text program = find_program(take_argument(&rest)), script = { NULL, 0 };

	if (is_interpreter(program))
		script = find_script(rest);
	*ret = (struct process_names){ comm, program.begin, script.begin, program.length,
				       script.length };
}

static bool is_match(const char *name, size_t length, const char *pattern)
{
	char text[NAME_LENGTH_MAX + 1];

	if (length == 0 || length > NAME_LENGTH_MAX)
		return false;
	memcpy(text, name, length);
	text[length] = '\0';
	if (strcmp(text, pattern) == 0)
		return true;
	return strpbrk(pattern, "*?[") && fnmatch(pattern, text, 0) == 0;
}

bool process_names_match(const struct process_names *names, const char *pattern)
{
	return is_match(names->comm, strlen(names->comm), pattern) ||
	       is_match(names->program, names->program_length, pattern) ||
	       is_match(names->script, names->script_length, pattern);
}

bool process_names_match_line(const char *comm, const char *line, const char *pattern)
{
	_cleanup_free_ char *arguments = xstrdup(line ? line : "");
	struct process_names names;
	size_t length = strlen(arguments);

	for (size_t i = 0; i < length; i++)
		if (arguments[i] == ' ')
			arguments[i] = '\0';
	process_names_find(comm, arguments, length, &names);
	return process_names_match(&names, pattern);
}
