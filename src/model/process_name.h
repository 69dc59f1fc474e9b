/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_name - the names by which a user can select a process: its comm, which the
 * kernel cuts after 15 bytes, the file name of its program, and that of the script that
 * its interpreter runs.
 */
#ifndef MS_MODEL_PROCESS_NAME_H
#define MS_MODEL_PROCESS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The names are borrowed from the arguments of process_names_find(). */
struct process_names {
	const char *comm;
	/* not NUL-terminated; the length is 0 if there is no such name */
	const char *program, *script;
	size_t program_length, script_length;
};

/*
 * Find the names of a process. `arguments` is its command line as in /proc/PID/cmdline:
 * each argument is followed by a NUL, except perhaps the last one. A length of 0 means
 * that the command line is unknown.
 */
void process_names_find(const char *comm, const char *arguments, size_t length,
			struct process_names *ret);

/*
 * Return true if a name equals the pattern, or matches it if the pattern contains
 * wildcards, as in glob(7).
 */
bool process_names_match(const struct process_names *names, const char *pattern);

/*
 * The same for a command line in which the arguments are separated by blanks, or NULL.
 */
bool process_names_match_line(const char *comm, const char *line, const char *pattern);

#endif
