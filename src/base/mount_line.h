/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount_line - one line of mountinfo, proc_pid_mountinfo(5), with its escapes resolved: the kernel
 * writes blanks, tabs, line breaks and backslashes in paths as \040, \011, \012 and \134.
 */
#ifndef MS_BASE_MOUNT_LINE_H
#define MS_BASE_MOUNT_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* The texts are parts of the line that was parsed. */
struct mount_line {
	uint64_t id; /* no two mounts have the same, in any mount namespace */
	uint32_t major, minor;
	const char *root, *point;
	const char *type;    /* of the file system */
	const char *options; /* of the file system, separated by commas */
};

/* Parse a line without its line break, which is overwritten. Returns false if it is not one. */
bool mount_line_parse(char *line, struct mount_line *ret);

/*
 * Find an option of the file system, such as "memory" or, with its "=", "hidepid=". Returns the
 * text after it, or NULL.
 */
const char *mount_line_find_option(const struct mount_line *m, const char *option);

#endif
