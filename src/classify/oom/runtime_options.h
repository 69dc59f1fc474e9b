/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_options - find the memory limit that a language runtime or server sets for
 * itself through its command line, environment or configuration file: -Xmx,
 * --max-old-space-size, memory_limit, GOMEMLIMIT, shared_buffers,
 * innodb_buffer_pool_size, maxmemory. The functions are pure.
 *
 * Values that the program would reject are ignored. If an option occurs several times,
 * the program's own rules of precedence apply; in most programs, the last option wins.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_OPTIONS_H
#define MS_CLASSIFY_OOM_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"

#define RUNTIME_OPTION_SIZE 64

/*
 * Names that stand for configuration files in the text of an option, regardless of the
 * actual path of the file.
 */
#define RUNTIME_FILE_POSTGRES "postgresql.conf"
#define RUNTIME_FILE_POSTGRES_AUTO "postgresql.auto.conf"
#define RUNTIME_FILE_MYSQL "my.cnf"
#define RUNTIME_FILE_REDIS "redis.conf"

struct runtime_option; /* a row of the table of options in runtime_options.c */

struct runtime_limit {
	/* option that sets the limit; NULL: no limit is set */
	const struct runtime_option *option;
	/* limit in bytes; unknown if the limit is a percentage of the cgroup's limit */
	uint64_t bytes;
	/*
	 * limit in thousandths of a percent of the cgroup's limit; 0: the
	 * limit is in bytes
	 */
	uint64_t percent_thousandths;
	/* option as written by the user, such as "-Xmx600m" */
	char text[RUNTIME_OPTION_SIZE];
};

/*
 * Find the memory limit that a process sets for itself. `command` contains the
 * arguments of the process joined by spaces, or is NULL if they are unknown. `options`
 * contains the environment options found by runtime_variables_for_each(), and options
 * from configuration files in the form "FILE WORD", where FILE is one of the
 * RUNTIME_FILE_ names.
 */
void runtime_limit_find(const char *command, char *const *options, size_t option_count,
			struct runtime_limit *ret);

/*
 * Find the memory limit that a server has set for itself, from the present size of the
 * memory that it limits: InnoDB's buffer pool, or PostgreSQL's shared memory. Use this
 * function if runtime_limit_find() finds no option.
 */
void runtime_limit_of_uses(const struct usage_uses *uses, struct runtime_limit *ret);

/*
 * Return the memory limit in bytes, given the limit of the cgroup. The result is unknown
 * if no option sets a limit.
 */
uint64_t runtime_limit_bytes(const struct runtime_limit *limit,
			     uint64_t group_limit_bytes);

/*
 * Return a static phrase for the memory that the option limits, such as "the Java heap".
 */
const char *runtime_option_title(const struct runtime_option *option);
/* Return true if all processes of the program share the memory that the option limits. */
bool runtime_option_is_shared(const struct runtime_option *option);
const char *runtime_option_advice(const struct runtime_option *option);

/*
 * Return the smallest runtime limit that leaves too little room for other memory, in
 * thousandths of the cgroup's limit.
 */
unsigned int runtime_option_min_per_mille(const struct runtime_option *option);

struct runtime_environment {
	/* the environment as NUL-terminated strings, as in /proc/PID/environ */
	const char *text;
	size_t length;
	const char *command;
	bool is_go; /* true if the program was compiled by the Go toolchain */
};

/*
 * Call fn with "VARIABLE WORD" for each memory limit option in the environment of a
 * process, for example with "JAVA_TOOL_OPTIONS -Xmx600m". Return 0, or the first nonzero
 * result of fn.
 */
int runtime_variables_for_each(const struct runtime_environment *environment,
			       int (*fn)(void *context, const char *text), void *context);

/*
 * If `word` begins with `form`, such as "-Xmx", return the remainder of the word;
 * otherwise return NULL. A "_" in `form` also matches "-".
 */
const char *runtime_option_skip(const char *word, const char *form);

#endif
