/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/process_name.h"

#include <fnmatch.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/*
 * Maximum length of a file name (NAME_MAX). Longer strings are not names of
 * programs or scripts.
 */
#define NAME_LENGTH_MAX 255

struct text {
	const char *begin;
	size_t length;
};

/*
 * Remove the first of the remaining arguments and return it. After the last argument,
 * return an empty struct text, whose `begin` is NULL.
 */
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

/*
 * The command-line options of a language's interpreter. In the lists of words, a space
 * follows each word. A cluster is an argument with several option letters, such as "-lc".
 */
struct interpreter {
	const char *programs;
	/* letters of options whose argument is code, as in "sh -c" */
	const char *code_letters;
	/* letters of options that, if last in a cluster, are followed by the script */
	const char *script_letters;
	/* letters of options that, if last in a cluster, are followed by a value */
	const char *value_letters;
	/*
	 * letters of options whose value follows in the same argument, as in "-Wignore"
	 */
	const char *text_letters;
	const char *code_words, *script_words, *value_words;
};

static const struct interpreter interpreters[] = {
	{ "ash bash dash ksh sh zsh ", "c", "", "oO", "", "", "",
	  "--rcfile --init-file +o +O " },
	{ "python pypy ", "c", "m", "WX", "WX", "", "", "" },
	{ "perl ", "eE", "", "I", "IMmFCDi0x", "", "", "" },
	{ "ruby ", "e", "", "ICEr", "ICErWxT0", "", "", "" },
	{ "node nodejs bun deno ", "ep", "", "r", "", "--eval --print ", "",
	  "--require --import --loader " },
	{ "php ", "rRBE", "f", "cdS", "cd", "--run ", "--file ", "" },
	{ "java ", "", "", "", "XD", "", "-jar -m --module ",
	  "-cp -classpath --class-path -p --module-path " },
	{ "lua ", "", "", "el", "el", "", "", "" },
	{ "guile ", "c", "s", "lLex", "", "", "", "" },
	{ "tclsh ", "", "", "", "", "", "", "-encoding " },
	{ "Rscript ", "e", "", "", "", "", "", "" },
};

static bool has_word(const char *words, struct text word)
{
	for (; *words; words = strchr(words, ' ') + 1)
		if (strncmp(words, word.begin, word.length) == 0 &&
		    words[word.length] == ' ')
			return true;
	return false;
}

/*
 * Return the interpreter of a language, given the name of its program, such as
 * "python3.11". Return NULL if the program is not a known interpreter.
 */
static const struct interpreter *find_interpreter(struct text program)
{
	while (program.length > 0 &&
	       strchr("0123456789.", program.begin[program.length - 1]))
		program.length--;
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
		if (program.length > 0 && has_word(interpreters[i].programs, program))
			return &interpreters[i];
	return NULL;
}

enum option_kind {
	OPTION_FLAG,
	OPTION_CODE,
	OPTION_SCRIPT,
	OPTION_VALUE
};

static enum option_kind find_kind(const struct interpreter *language, struct text option)
{
	bool is_cluster = option.length > 1 && option.begin[0] == '-' &&
			  option.begin[1] != '-';
	char last = option.length > 0 ? option.begin[option.length - 1] : '-';

	if (has_word(language->code_words, option))
		return OPTION_CODE;
	if (has_word(language->script_words, option))
		return OPTION_SCRIPT;
	if (has_word(language->value_words, option))
		return OPTION_VALUE;
	if (!is_cluster)
		return OPTION_FLAG;
	if (option.length > 2 && strchr(language->text_letters, option.begin[1]))
		return OPTION_FLAG;
	for (size_t i = 1; i < option.length; i++)
		if (strchr(language->code_letters, option.begin[i]))
			return OPTION_CODE;
	if (strchr(language->script_letters, last))
		return OPTION_SCRIPT;
	return strchr(language->value_letters, last) ? OPTION_VALUE : OPTION_FLAG;
}

/*
 * Return the name of the script among the arguments of an interpreter: the file name of
 * the first argument that is not an option, or the module of "python -m".
 */
static struct text find_script(const struct interpreter *language, struct text rest)
{
	const struct text none = { NULL, 0 };
	struct text argument;

	while ((argument = take_argument(&rest)).begin) {
		if (argument.length == 0)
			continue;
		if (argument.begin[0] != '-' && argument.begin[0] != '+')
			return find_file_name(argument);
		switch (find_kind(language, argument)) {
		case OPTION_CODE: return none;
		case OPTION_SCRIPT: return find_file_name(take_argument(&rest));
		case OPTION_VALUE: (void)take_argument(&rest); break;
		case OPTION_FLAG: break;
		}
	}
	return none;
}

/*
 * Return the file name of the program, given the first argument. A login shell's first
 * argument begins with '-', and a title such as "nginx: worker process" contains a colon.
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
	const struct interpreter *language = find_interpreter(program);

	if (language)
		script = find_script(language, rest);
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
