/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_options - the memory limit that a language runtime or server sets
 * for itself through its command line, environment or configuration file:
 * -Xmx, --max-old-space-size, GOMEMLIMIT, shared_buffers,
 * innodb_buffer_pool_size, maxmemory. Pure.
 *
 * Values that the program would reject are ignored. If an option occurs several times,
 * the program's own rules of precedence apply: in most programs, the last one wins.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_OPTIONS_H
#define MS_CLASSIFY_OOM_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_OPTION_SIZE 64

/*
 * Names under which options from configuration files are
 * recorded, wherever the file is.
 */
#define RUNTIME_FILE_POSTGRES "postgresql.conf"
#define RUNTIME_FILE_POSTGRES_AUTO "postgresql.auto.conf"
#define RUNTIME_FILE_MYSQL "my.cnf"
#define RUNTIME_FILE_REDIS "redis.conf"

struct runtime_option; /* an element of the table of options */

struct runtime_limit {
	const struct runtime_option *option; /* NULL: the program sets no limit */
	/* unknown if the limit is a percentage of the cgroup's limit */
	uint64_t bytes;
	/* share of the cgroup's limit; 0: the limit is in bytes */
	uint64_t percent_thousandths;
	char text[RUNTIME_OPTION_SIZE]; /* as the user wrote it: "-Xmx600m" */
};

/*
 * Find the limit that a process sets for itself. `command` contains the arguments of the
 * process, joined by spaces; NULL if unknown. `options` are those that
 * runtime_variables_for_each() found in the environment, and those of configuration files
 * as "FILE WORD", where FILE is one of the RUNTIME_FILE_ names.
 */
void runtime_limit_find(const char *command, char *const *options, size_t option_count,
			struct runtime_limit *ret);

/* Return the limit in bytes, given the cgroup's limit. Unknown without an option. */
uint64_t runtime_limit_bytes(const struct runtime_limit *limit,
			     uint64_t group_limit_bytes);

/* Return a phrase for the limited memory, such as "the Java heap". Static. */
const char *runtime_option_title(const struct runtime_option *option);
/* Return true if the limited memory is shared by all processes of the program. */
bool runtime_option_is_shared(const struct runtime_option *option);
const char *runtime_option_advice(const struct runtime_option *option);

/*
 * Return the minimum share of the cgroup's limit, in thousandths, at which the runtime's
 * limit leaves too little room for other memory.
 */
unsigned int runtime_option_min_per_mille(const struct runtime_option *option);

/*
 * Call fn with "VARIABLE WORD" for each option in the environment of a process (as in
 * /proc/PID/environ) that sets a memory limit of its program. Return 0, or the first
 * nonzero result of fn. is_go is true if the program was compiled by Go.
 */
struct runtime_environment {
	/* the environment as NUL-terminated strings, as in /proc/PID/environ */
	const char *text;
	size_t length;
	const char *command;
	bool is_go;
};
int runtime_variables_for_each(const struct runtime_environment *environment,
			       int (*fn)(void *context, const char *text), void *context);

/*
 * If `word` begins with `form`, such as "-Xmx", return the remainder of the word;
 * otherwise NULL. "_" in the form also matches "-".
 */
const char *runtime_option_skip(const char *word, const char *form);

#endif
