/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount_line - parse the lines of /proc/PID/mountinfo, see proc_pid_mountinfo(5). The
 * kernel writes blanks, tabs, line breaks and backslashes in paths as \040, \011, \012
 * and \134. These escapes are decoded.
 */
#ifndef MS_BASE_MOUNT_LINE_H
#define MS_BASE_MOUNT_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* The fields of a mountinfo line. All strings point into the parsed line. */
struct mount_line {
	uint64_t id; /* mount ID, unique across all mount namespaces */
	uint32_t major, minor;
	const char *root, *point;
	const char *type;    /* file system type */
	const char *options; /* file system options, separated by commas */
};

/*
 * Parse a line without its line break. The function modifies the line. Return false if
 * the line is malformed.
 */
bool mount_line_parse(char *line, struct mount_line *ret);

/*
 * Parse the next well-formed line of a mountinfo file, and advance *rest past it. *rest
 * is the file's text, which the function modifies, or NULL. Return false at the end.
 */
bool mount_line_next(char **rest, struct mount_line *ret);

/*
 * Find an option of the file system by its name, such as "memory". The name of an
 * option with a value includes the "=", such as "hidepid=". Return the text after the
 * name, or NULL.
 */
const char *mount_line_find_option(const struct mount_line *m, const char *option);

#endif
