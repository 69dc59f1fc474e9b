/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/runtime_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/text.h"
#include "base/units.h"
#include "classify/oom/runtime_programs.h"

#define PERCENT_MAX 100000 /* 100 %, in thousandths of a percent */

/*
 * A suffix of a number. The number is shifted left by `shift` bits, and multiplied by
 * 1000 `decimal` times.
 */
struct unit {
	const char *suffix;
	unsigned int shift, decimal;
};

struct units {
	const struct unit *units;
	bool ignores_case;
};

/*
 * Unit suffixes of Java options, as in atomull() of OpenJDK (os/…, arguments.cpp). Java
 * does not accept fractions.
 */
static const struct unit java_units[] = {
	{ "", 0, 0 },	{ "k", 10, 0 }, { "m", 20, 0 },
	{ "g", 30, 0 }, { "t", 40, 0 }, { NULL, 0, 0 }
};
/* Node.js options have no unit suffixes: the numbers are in MiB. */
static const struct unit node_units[] = { { "", 20, 0 }, { NULL, 0, 0 } };
/* Unit suffixes of PHP options, as in zend_ini_parse_quantity(). */
static const struct unit php_units[] = {
	{ "", 0, 0 }, { "k", 10, 0 }, { "m", 20, 0 }, { "g", 30, 0 }, { NULL, 0, 0 }
};
/* Unit suffixes of Go options, as in parseByteCount() of runtime/string.go. */
static const struct unit go_units[] = { { "", 0, 0 },	  { "B", 0, 0 },
					{ "KiB", 10, 0 }, { "MiB", 20, 0 },
					{ "GiB", 30, 0 }, { "TiB", 40, 0 },
					{ NULL, 0, 0 } };
/*
 * Unit suffixes of PostgreSQL options, from memory_unit_conversion_table in guc.c.
 * Without a suffix, a number is a count of 8 kB blocks.
 */
static const struct unit postgres_units[] = { { "", 13, 0 },   { "B", 0, 0 },
					      { "kB", 10, 0 }, { "MB", 20, 0 },
					      { "GB", 30, 0 }, { "TB", 40, 0 },
					      { NULL, 0, 0 } };
/* Unit suffixes of MySQL options, as in eval_num_suffix() of my_getopt.cc. */
static const struct unit mysql_units[] = {
	{ "", 0, 0 },	{ "k", 10, 0 }, { "m", 20, 0 },
	{ "g", 30, 0 }, { "t", 40, 0 }, { NULL, 0, 0 }
};
/* Unit suffixes of Redis options, as in memtoull() of util.c; k is 1000, kb is 1024. */
static const struct unit redis_units[] = {
	{ "", 0, 0 },	 { "b", 0, 0 }, { "k", 0, 1 },	 { "kb", 10, 0 }, { "m", 0, 2 },
	{ "mb", 20, 0 }, { "g", 0, 3 }, { "gb", 30, 0 }, { NULL, 0, 0 }
};

/*
 * An option that sets a memory limit. If is_next_word is set, its value is the next word.
 */
struct runtime_option {
	enum runtime runtime;
	/* text of the option before its value; "_" also matches "-" */
	const char *form;
	/*
	 * suffixes allowed in the value; NULL: the value is a
	 * percentage of the cgroup's limit
	 */
	const struct unit *units;
	bool ignores_case, is_next_word;
	/* true if the option has precedence over options without this flag */
	bool is_strong;
	/* true if the limited memory is shared by all processes of the program */
	bool is_shared;
	unsigned int min_per_mille;
	const char *title, *advice;
};

#define JAVA_HEAP "the Java heap"
#define JAVA_ADVICE                                                                          \
	"set -Xmx or -XX:MaxRAMPercentage so that the heap is at most about three quarters " \
	"of the limit: metaspace, code, threads and direct buffers need the rest"
#define NODE_HEAP "the JavaScript heap"
#define NODE_ADVICE                                                                       \
	"set --max-old-space-size to at most about three quarters of the limit: buffers " \
	"and code are outside that heap"
#define PHP_HEAP "PHP's heap"
#define PHP_ADVICE                                                                        \
	"set memory_limit so that all processes of PHP together remain below the limit: " \
	"each process has its own heap, and extensions allocate outside of it"
#define GO_ADVICE                                                                          \
	"set GOMEMLIMIT 5 to 10 % below the limit: only then does the collector run more " \
	"often as usage nears the limit"
#define POSTGRES_ADVICE                                                                        \
	"set shared_buffers to about a quarter of the limit: work_mem of each connection and " \
	"maintenance_work_mem are additional"
#define MYSQL_ADVICE                                                                            \
	"set innodb_buffer_pool_size to at most about three quarters of the limit: buffers of " \
	"each connection are additional"
#define REDIS_ADVICE                                                                           \
	"set maxmemory well below the limit: fragmentation, client buffers, and pages copied " \
	"while a child saves are additional"

/*
 * The options are documented in java(1), node(1), php(1), Go's package runtime/debug,
 * PostgreSQL "Resource Consumption", MySQL "InnoDB Startup Options", and redis.conf.
 */
static const struct runtime_option rows[] = {
	{ RUNTIME_JAVA, "-Xmx", java_units, true, false, true, false, 900, JAVA_HEAP,
	  JAVA_ADVICE },
	{ RUNTIME_JAVA, "-XX:MaxHeapSize=", java_units, true, false, true, false, 900,
	  JAVA_HEAP, JAVA_ADVICE },
	{ RUNTIME_JAVA, "-XX:MaxRAMPercentage=", NULL, false, false, false, false, 900,
	  JAVA_HEAP, JAVA_ADVICE },
	{ RUNTIME_NODE, "--max_old_space_size=", node_units, false, false, true, false,
	  900, NODE_HEAP, NODE_ADVICE },
	{ RUNTIME_NODE, "--max_old_space_size", node_units, false, true, true, false, 900,
	  NODE_HEAP, NODE_ADVICE },
	{ RUNTIME_PHP, "-dmemory_limit=", php_units, true, false, true, false, 900,
	  PHP_HEAP, PHP_ADVICE },
	{ RUNTIME_PHP, "memory_limit=", php_units, true, false, true, false, 900,
	  PHP_HEAP, PHP_ADVICE },
	{ RUNTIME_GO, "", go_units, false, false, true, false, 1001,
	  "the Go heap (GOMEMLIMIT)", GO_ADVICE },
	{ RUNTIME_POSTGRES, "--shared_buffers=", postgres_units, false, false, true, true,
	  900, "shared_buffers", POSTGRES_ADVICE },
	{ RUNTIME_POSTGRES, "shared_buffers=", postgres_units, false, false, true, true,
	  900, "shared_buffers", POSTGRES_ADVICE },
	{ RUNTIME_POSTGRES, "-cshared_buffers=", postgres_units, false, false, true, true,
	  900, "shared_buffers", POSTGRES_ADVICE },
	{ RUNTIME_POSTGRES, "-B", postgres_units, false, true, true, true, 900,
	  "shared_buffers", POSTGRES_ADVICE },
	{ RUNTIME_MYSQL, "--innodb_buffer_pool_size=", mysql_units, true, false, true,
	  false, 900, "innodb_buffer_pool_size", MYSQL_ADVICE },
	{ RUNTIME_MYSQL, "--innodb_buffer_pool_size", mysql_units, true, true, true,
	  false, 900, "innodb_buffer_pool_size", MYSQL_ADVICE },
	{ RUNTIME_REDIS, "--maxmemory", redis_units, true, true, true, false, 900,
	  "maxmemory", REDIS_ADVICE },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/*
 * Environment variables and configuration files that may contain memory limits. Later
 * entries of the list have precedence.
 */
static const struct {
	const char *name;
	enum runtime runtime;
	bool is_after_command;
	/* true if `name` is a configuration file instead of an environment variable */
	bool is_file;
} variables[] = {
	{ "JAVA_TOOL_OPTIONS", RUNTIME_JAVA, false, false },
	{ "JDK_JAVA_OPTIONS", RUNTIME_JAVA, false, false },
	{ "_JAVA_OPTIONS", RUNTIME_JAVA, true, false },
	{ "NODE_OPTIONS", RUNTIME_NODE, false, false },
	{ "GOMEMLIMIT", RUNTIME_GO, false, false },
	{ RUNTIME_FILE_POSTGRES, RUNTIME_POSTGRES, false, true },
	{ RUNTIME_FILE_POSTGRES_AUTO, RUNTIME_POSTGRES, false, true },
	{ RUNTIME_FILE_MYSQL, RUNTIME_MYSQL, false, true },
	{ RUNTIME_FILE_REDIS, RUNTIME_REDIS, false, true },
};

#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* Options whose value is the next word. That word is not the class or script to run. */
static const struct {
	enum runtime runtime;
	const char *word;
} takes_value[] = {
	{ RUNTIME_JAVA, "-cp" },
	{ RUNTIME_JAVA, "-classpath" },
	{ RUNTIME_JAVA, "--class-path" },
	{ RUNTIME_JAVA, "-p" },
	{ RUNTIME_JAVA, "--module-path" },
	{ RUNTIME_JAVA, "--upgrade-module-path" },
	{ RUNTIME_JAVA, "--add-modules" },
	{ RUNTIME_JAVA, "--add-opens" },
	{ RUNTIME_JAVA, "--add-exports" },
	{ RUNTIME_JAVA, "--add-reads" },
	{ RUNTIME_JAVA, "--patch-module" },
	{ RUNTIME_JAVA, "--limit-modules" },
	{ RUNTIME_NODE, "-r" },
	{ RUNTIME_NODE, "--require" },
	{ RUNTIME_NODE, "--import" },
	{ RUNTIME_NODE, "--loader" },
	{ RUNTIME_NODE, "--max-old-space-size" },
	{ RUNTIME_NODE, "--max_old_space_size" },
	{ RUNTIME_PHP, "-c" },
	{ RUNTIME_PHP, "-z" },
};

static bool multiply(uint64_t *value, uint64_t by)
{
	if (by != 0 && *value > (BYTES_UNKNOWN - 1) / by)
		return false;
	*value *= by;
	return true;
}

/*
 * Parse a number with one of the option's suffixes. Return false if the number is invalid
 * or too large.
 */
static bool parse_amount(const struct runtime_option *row, const char *text,
			 uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	char number[32];
	uint64_t value;

	if (digits == 0 || digits >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	if (num_parse_u64(number, &value) < 0)
		return false;
	for (const struct unit *u = row->units; u->suffix; u++) {
		int differ = row->ignores_case ? strcasecmp(text + digits, u->suffix)
					       : strcmp(text + digits, u->suffix);

		if (differ != 0)
			continue;
		for (unsigned int i = 0; i < u->decimal; i++)
			if (!multiply(&value, 1000))
				return false;
		if (!multiply(&value, UINT64_C(1) << u->shift))
			return false;
		*ret = value;
		return true;
	}
	return false;
}

static bool parse_value(const struct runtime_option *row, const char *text,
			struct runtime_limit *ret)
{
	ret->option = row;
	ret->bytes = BYTES_UNKNOWN;
	ret->percent_thousandths = 0;
	if (row->units)
		return parse_amount(row, text, &ret->bytes);
	return num_parse_thousandths(text, &ret->percent_thousandths) == 0 &&
	       ret->percent_thousandths > 0 && ret->percent_thousandths <= PERCENT_MAX;
}

const char *runtime_option_skip(const char *word, const char *form)
{
	for (; *form != '\0'; form++, word++)
		if (*word != *form && !(*form == '_' && *word == '-'))
			return NULL;
	return word;
}

/*
 * Look up a command-line option in the table of options, and set *ret to its limit. The
 * option's value is the remainder of the word, or `next`.
 */
static bool parse_word(enum runtime runtime, const char *word, const char *next,
		       struct runtime_limit *ret)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const char *value;

		if (rows[i].runtime != runtime ||
		    !(value = runtime_option_skip(word, rows[i].form)))
			continue;
		if (rows[i].is_next_word && *value != '\0')
			continue;
		if (!parse_value(&rows[i], rows[i].is_next_word ? next : value, ret))
			continue;
		snprintf(ret->text, sizeof(ret->text), "%s%s%s", word,
			 rows[i].is_next_word ? " " : "",
			 rows[i].is_next_word ? next : "");
		return true;
	}
	return false;
}

static void use_limit(const struct runtime_limit *found, struct runtime_limit *ret)
{
	if (ret->option && ret->option->is_strong && !found->option->is_strong)
		return;
	*ret = *found;
}

static bool has_value(enum runtime runtime, const char *word)
{
	for (size_t i = 0; i < sizeof(takes_value) / sizeof(takes_value[0]); i++)
		if (takes_value[i].runtime == runtime &&
		    strcmp(takes_value[i].word, word) == 0)
			return true;
	return false;
}

/*
 * Return true if the word is the class or script to run. All words after it are arguments
 * of the program, not of the runtime.
 */
static bool is_operand(enum runtime runtime, const char *word)
{
	if (runtime != RUNTIME_JAVA && runtime != RUNTIME_NODE && runtime != RUNTIME_PHP)
		return false;
	/* assume that a word with "=" is the argument of PHP's option -d, not a script */
	if (runtime == RUNTIME_PHP)
		return strcmp(word, "--") == 0 ||
		       (word[0] != '-' && strchr(word, '=') == NULL);
	return word[0] != '-' || strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
	       strcmp(word, "--module") == 0 || strcmp(word, "--") == 0;
}

static void add_words(enum runtime runtime, const char *text, struct runtime_limit *ret)
{
	char word[RUNTIME_WORD_SIZE], next[RUNTIME_WORD_SIZE];

	while ((text = runtime_next_word(text, word)) && !is_operand(runtime, word)) {
		const char *rest = runtime_next_word(text, next);
		struct runtime_limit found;

		if (!rest)
			next[0] = '\0';
		if (parse_word(runtime, word, next, &found))
			use_limit(&found, ret);
		if (rest && has_value(runtime, word))
			text = rest;
	}
}

static void add_option(size_t v, const char *text, struct runtime_limit *ret)
{
	struct runtime_limit found = { .option = NULL };
	size_t length;

	add_words(variables[v].runtime, text, &found);
	if (!found.option)
		return;
	length = strlen(found.text);
	if (variables[v].is_file)
		snprintf(found.text + length, sizeof(found.text) - length, " in %s",
			 variables[v].name);
	use_limit(&found, ret);
}

/*
 * Add the options from environment variables that the runtime reads before its
 * command line. If is_after is set, add those from variables that it reads
 * after its command line.
 */
static void add_variables(enum runtime runtime, char *const *options, size_t option_count,
			  bool is_after, struct runtime_limit *ret)
{
	for (size_t v = 0; v < VARIABLE_COUNT; v++) {
		size_t length = strlen(variables[v].name);

		if (variables[v].is_after_command != is_after ||
		    (variables[v].runtime != runtime &&
		     variables[v].runtime != RUNTIME_GO))
			continue;
		for (size_t i = 0; i < option_count; i++)
			if (strncmp(options[i], variables[v].name, length) == 0 &&
			    options[i][length] == ' ')
				add_option(v, options[i] + length, ret);
	}
}

void runtime_limit_find(const char *command, char *const *options, size_t option_count,
			struct runtime_limit *ret)
{
	enum runtime runtime = runtime_of_command(command);
	char first[RUNTIME_WORD_SIZE];
	const char *rest = command ? runtime_next_word(command, first) : NULL;

	*ret = (struct runtime_limit){ .bytes = BYTES_UNKNOWN };
	add_variables(runtime, options, option_count, false, ret);
	if (runtime != RUNTIME_NONE && rest)
		add_words(runtime, rest, ret);
	add_variables(runtime, options, option_count, true, ret);
	/* the value 0 means no limit or the default limit */
	if (ret->option && ret->bytes == 0)
		*ret = (struct runtime_limit){ .bytes = BYTES_UNKNOWN };
}

void runtime_limit_of_uses(const struct usage_uses *uses, struct runtime_limit *ret)
{
	*ret = (struct runtime_limit){ .bytes = BYTES_UNKNOWN };
	for (size_t i = 0; i < uses->count; i++) {
		enum known_use use = uses->items[i].use;
		const char *title = known_use_texts[use].limit;

		if (use != USE_INNODB_POOL && use != USE_POSTGRES_SHARED)
			continue;
		for (size_t row = 0; row < ROW_COUNT && !ret->option; row++)
			if (strcmp(rows[row].title, title) == 0)
				ret->option = &rows[row];
		ret->bytes = uses->items[i].size_bytes;
		snprintf(ret->text, sizeof(ret->text), "the size of the %s",
			 known_use_texts[use].name);
		return;
	}
}

uint64_t runtime_limit_bytes(const struct runtime_limit *limit,
			     uint64_t group_limit_bytes)
{
	if (!limit->option)
		return BYTES_UNKNOWN;
	if (limit->percent_thousandths == 0)
		return limit->bytes;
	if (!bytes_known(group_limit_bytes))
		return BYTES_UNKNOWN;
	return (uint64_t)((unsigned __int128)group_limit_bytes *
			  limit->percent_thousandths / PERCENT_MAX);
}

const char *runtime_option_title(const struct runtime_option *option)
{
	return option->title;
}

const char *runtime_option_advice(const struct runtime_option *option)
{
	return option->advice;
}

bool runtime_option_is_shared(const struct runtime_option *option)
{
	return option->is_shared;
}

unsigned int runtime_option_min_per_mille(const struct runtime_option *option)
{
	return option->min_per_mille;
}

/* Call fn only for known options, because other words of the variable may be secrets. */
static int visit_words(size_t v, const char *value,
		       int (*fn)(void *context, const char *text), void *context)
{
	char word[RUNTIME_WORD_SIZE], next[RUNTIME_WORD_SIZE],
		text[2 * RUNTIME_WORD_SIZE];
	int r = 0;

	while (r == 0 && (value = runtime_next_word(value, word))) {
		struct runtime_limit found;

		if (!runtime_next_word(value, next))
			next[0] = '\0';
		if (!parse_word(variables[v].runtime, word, next, &found))
			continue;
		snprintf(text, sizeof(text), "%s %s", variables[v].name, found.text);
		r = fn(context, text);
	}
	return r;
}

int runtime_variables_for_each(const struct runtime_environment *environment,
			       int (*fn)(void *context, const char *text), void *context)
{
	enum runtime runtime = runtime_of_command(environment->command);
	const char *end = environment->text + environment->length;
	int r = 0;

	for (const char *at = environment->text; at < end && r == 0;) {
		size_t length = strnlen(at, (size_t)(end - at));

		for (size_t v = 0; v < VARIABLE_COUNT && r == 0 && at + length < end;
		     v++) {
			size_t name_length = strlen(variables[v].name);
			bool is_ours = variables[v].runtime == RUNTIME_GO
					       ? environment->is_go
					       : variables[v].runtime == runtime;

			if (is_ours && !variables[v].is_file &&
			    strncmp(at, variables[v].name, name_length) == 0 &&
			    at[name_length] == '=')
				r = visit_words(v, at + name_length + 1, fn, context);
		}
		at += length + 1;
	}
	return r;
}
