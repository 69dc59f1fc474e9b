/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of the file formats: PostgreSQL's guc-file.l; MySQL's my_default.cc and the
 * chapter "Using Option Files" of its manual; Redis' config.c and redis.conf.
 */
#include "config.h"

#include "classify/oom/runtime_files.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "classify/oom/runtime_programs.h"

#define LINE_SIZE 1000
#define BLANKS " \t\r\f\v"
#define LOOSE "loose_"
#define PGDATA "PGDATA="
#define CONFIG_FILE "config_file="

static void add_file(struct runtime_files *files, const char *name, const char *dir,
		     const char *file)
{
	struct runtime_file *added = &files->items[files->count];
	int length;

	if (dir[0] != '/' || files->count == RUNTIME_FILES_MAX)
		return;
	length = snprintf(added->path, sizeof(added->path), "%s%s%s", dir,
			  file[0] != '\0' ? "/" : "", file);
	if (length < 0 || (size_t)length >= sizeof(added->path))
		return;
	added->name = name;
	files->count++;
}

/*
 * Set *ret to the value of an environment variable. Leave *ret
 * unchanged if the variable is not set.
 */
static void find_variable(const struct runtime_environment *environment,
			  const char *variable, char ret[RUNTIME_WORD_SIZE])
{
	const char *end = environment->text + environment->length;

	for (const char *at = environment->text; at < end;
	     at += strnlen(at, (size_t)(end - at)) + 1) {
		size_t length = strnlen(at, (size_t)(end - at)), skip = strlen(variable);

		if (length > skip && strncmp(at, variable, skip) == 0 &&
		    length - skip < RUNTIME_WORD_SIZE)
			snprintf(ret, RUNTIME_WORD_SIZE, "%.*s", (int)(length - skip),
				 at + skip);
	}
}

/*
 * Find the configuration files of a PostgreSQL server from a command line such
 * as "postgres -D DIR -c config_file=FILE". Debian keeps postgresql.conf outside
 * the data directory.
 */
static void find_postgres(const struct runtime_environment *environment, const char *rest,
			  struct runtime_files *ret)
{
	char word[RUNTIME_WORD_SIZE], before[RUNTIME_WORD_SIZE] = "";
	char dir[RUNTIME_WORD_SIZE] = "", file[RUNTIME_WORD_SIZE] = "";

	find_variable(environment, PGDATA, dir);
	while ((rest = runtime_next_word(rest, word))) {
		const char *value = NULL;

		if (strcmp(before, "-D") == 0)
			memcpy(dir, word, sizeof(dir));
		else if (strncmp(word, "-D", 2) == 0 && word[2] != '\0')
			snprintf(dir, sizeof(dir), "%s", word + 2);
		else if (strcmp(before, "-c") == 0)
			value = runtime_option_skip(word, CONFIG_FILE);
		else if (!(value = runtime_option_skip(word, "-c" CONFIG_FILE)))
			value = runtime_option_skip(word, "--" CONFIG_FILE);
		if (value)
			snprintf(file, sizeof(file), "%s", value);
		memcpy(before, word, sizeof(before));
	}
	if (file[0] != '\0')
		add_file(ret, RUNTIME_FILE_POSTGRES, file, "");
	else
		add_file(ret, RUNTIME_FILE_POSTGRES, dir, RUNTIME_FILE_POSTGRES);
	add_file(ret, RUNTIME_FILE_POSTGRES_AUTO, dir, RUNTIME_FILE_POSTGRES_AUTO);
}

static void find_mysql(const char *rest, struct runtime_files *ret)
{
	char word[RUNTIME_WORD_SIZE];

	while ((rest = runtime_next_word(rest, word))) {
		const char *value = runtime_option_skip(word, "--defaults_file=");

		if (!value)
			value = runtime_option_skip(word, "--defaults_extra_file=");
		if (value)
			add_file(ret, RUNTIME_FILE_MYSQL, value, "");
	}
}

void runtime_files_find(const struct runtime_environment *environment,
			struct runtime_files *ret)
{
	enum runtime runtime = runtime_of_command(environment->command);
	char word[RUNTIME_WORD_SIZE];
	const char *rest;

	ret->count = 0;
	if (runtime == RUNTIME_NONE)
		return;
	rest = runtime_next_word(environment->command, word);
	if (runtime == RUNTIME_POSTGRES)
		find_postgres(environment, rest, ret);
	else if (runtime == RUNTIME_MYSQL)
		find_mysql(rest, ret);
	/*
	 * Redis reads the file named by its first argument, unless that argument is
	 * an option
	 */
	else if (runtime == RUNTIME_REDIS && runtime_next_word(rest, word))
		add_file(ret, RUNTIME_FILE_REDIS, word, "");
}

/* A line of a configuration file, without leading whitespace. */
struct line {
	char text[LINE_SIZE];
	char *key; /* key within `text`, NUL-terminated */
	char *value;
};

/*
 * Split a line into key and value, separated by whitespace or "=". Truncate
 * overlong lines.
 */
static void split(const char *text, size_t length, struct line *ret)
{
	size_t key;

	snprintf(ret->text, sizeof(ret->text), "%.*s", (int)length, text);
	ret->key = ret->text + strspn(ret->text, BLANKS);
	key = strcspn(ret->key, BLANKS "=");
	ret->value = ret->key + key;
	ret->value += strspn(ret->value, BLANKS);
	if (*ret->value == '=')
		ret->value += 1 + strspn(ret->value + 1, BLANKS);
	ret->key[key] = '\0';
}

/*
 * Remove the quotes around a value. If the value is not quoted, remove whitespace and a
 * comment after the value.
 */
static void trim_value(char *value)
{
	char quote = *value == '\'' || *value == '"' ? *value : '\0';
	const char *from = quote ? value + 1 : value;
	char *to = value;

	for (; *from != '\0' && *from != (quote ? quote : '#'); from++)
		if (!strchr(BLANKS, *from))
			*to++ = *from;
	*to = '\0';
}

/* Return true if the line starts an option group that mysqld and mariadbd read. */
static bool is_server_group(const char *line)
{
	static const char *const groups[] = { "[mysqld]", "[server]", "[mariadb]",
					      "[mariadbd]" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strncmp(line, groups[i], strlen(groups[i])) == 0)
			return true;
	return false;
}

struct parsing {
	const char *name; /* name of the configuration file */
	/* true if the server ignores the current option group */
	bool is_outside;
};

/*
 * Return the option that the line sets in its command-line form, without the value.
 * Return NULL if the line does not set a known option.
 */
static const char *find_form(struct parsing *p, const struct line *line)
{
	const char *key = line->key, *loose;

	if (strcmp(p->name, RUNTIME_FILE_REDIS) == 0)
		return strcasecmp(key, "maxmemory") == 0 ? "--maxmemory " : NULL;
	if (strcmp(p->name, RUNTIME_FILE_MYSQL) != 0)
		return strcasecmp(key, "shared_buffers") == 0 ? "shared_buffers=" : NULL;
	if (key[0] == '[')
		p->is_outside = !is_server_group(key);
	if (p->is_outside)
		return NULL;
	loose = runtime_option_skip(key, LOOSE);
	key = runtime_option_skip(loose ? loose : key, "innodb_buffer_pool_size");
	return key && *key == '\0' ? "--innodb_buffer_pool_size=" : NULL;
}

/*
 * Set *ret to the option and its value, and return true. Return false if the value does
 * not look like an amount of memory: any other text may be a secret.
 */
static bool add_value(const char *form, const char *value, char ret[RUNTIME_OPTION_SIZE])
{
	size_t length = strlen(value);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)value[i]) && value[i] != '.')
			return false;
	if (!isdigit((unsigned char)value[0]) ||
	    strlen(form) + length >= RUNTIME_OPTION_SIZE)
		return false;
	snprintf(ret, RUNTIME_OPTION_SIZE, "%s%s", form, value);
	return true;
}

bool runtime_file_parse(const char *name, const char *text, char ret[RUNTIME_OPTION_SIZE])
{
	struct parsing p = { name, strcmp(name, RUNTIME_FILE_MYSQL) == 0 };
	bool is_found = false;

	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		struct line line;
		const char *form;

		split(text, length < LINE_SIZE ? length : LINE_SIZE - 1, &line);
		text += length + (text[length] == '\n');
		form = find_form(&p, &line);
		if (!form)
			continue;
		trim_value(line.value);
		is_found |= add_value(form, line.value, ret);
	}
	return is_found;
}
