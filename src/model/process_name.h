/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_name - the names by which a user can select a process. These are its comm,
 * which the kernel truncates to 15 bytes, the file name of its program, and the file name
 * of the script that an interpreter runs.
 */
#ifndef MS_MODEL_PROCESS_NAME_H
#define MS_MODEL_PROCESS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The names are borrowed from the arguments of process_names_find(). */
struct process_names {
	const char *comm;
	/* names without a NUL at the end; the length is 0 if there is no name */
	const char *program, *script;
	size_t program_length, script_length;
};

/*
 * Find the names of a process. `arguments` is its command line as in /proc/PID/cmdline:
 * each argument is followed by a NUL, except perhaps the last. A length of 0 means that
 * the command line is unknown.
 */
void process_names_find(const char *comm, const char *arguments, size_t length,
			struct process_names *ret);

/* Return true if a name equals the pattern, or matches its wildcards as in glob(7). */
bool process_names_match(const struct process_names *names, const char *pattern);

/*
 * Like process_names_match(), but takes the comm and the command line of a process.
 * Spaces separate the arguments in `line`, which may be NULL.
 */
bool process_names_match_line(const char *comm, const char *line, const char *pattern);

#endif
