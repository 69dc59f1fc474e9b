/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_options - the limit that a language runtime or a server sets itself, from its
 * command line and its environment: -Xmx, --max-old-space-size, GOMEMLIMIT, shared_buffers,
 * innodb_buffer_pool_size, maxmemory. Pure.
 *
 * A value that the program itself would refuse is ignored; of several the program's own
 * precedence decides, which is mostly that the last one wins.
 */
#ifndef MS_CLASSIFY_RUNTIME_OPTIONS_H
#define MS_CLASSIFY_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_OPTION_SIZE 64

struct runtime_option; /* a row of the table */

struct runtime_limit {
	const struct runtime_option *option; /* NULL: none was given */
	uint64_t bytes;			     /* unknown where it is a percentage */
	uint64_t percent_thousandths;	     /* of the group's limit; 0: bytes are known */
	char text[RUNTIME_OPTION_SIZE];	     /* as it was given: "-Xmx600m" */
};

/*
 * Find the limit of a process: its command line, arguments joined by blanks, and what
 * runtime_variables_for_each() found in its environment. NULL command: unknown.
 */
void runtime_limit_find(const char *command, char *const *options, size_t option_count,
			struct runtime_limit *ret);

/* In bytes, for a group with this limit; unknown without an option. */
uint64_t runtime_limit_bytes(const struct runtime_limit *limit, uint64_t group_limit_bytes);

/* "the Java heap" */
const char *runtime_option_title(const struct runtime_option *option);
/* Whether that is memory that all processes of the program share. */
bool runtime_option_is_shared(const struct runtime_option *option);
const char *runtime_option_advice(const struct runtime_option *option);

/* The share of the group's limit, in per mille, from which too little is left for the rest. */
unsigned int runtime_option_least_per_mille(const struct runtime_option *option);

/*
 * Call fn with "VARIABLE WORD" for each word of a process's environment (as in
 * /proc/PID/environ) that is an option of the table for that program, and nothing else.
 * is_go: the program was compiled by Go. Returns 0, or the first other result of fn.
 */
struct runtime_environment {
	const char *text; /* strings that end in NUL */
	size_t length;
	const char *command;
	bool is_go;
};
int runtime_variables_for_each(const struct runtime_environment *environment,
			       int (*fn)(void *context, const char *text), void *context);

#endif
