/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_file - write a flame graph to the file named by --flame-graph. The suffix of the
 * name selects an image or an HTML page.
 */
#ifndef MS_CMD_COUNT_FLAME_FILE_H
#define MS_CMD_COUNT_FLAME_FILE_H

#include "model/profile.h"
#include "render/flame/html.h"

/*
 * Check that the file name ends in .svg or .html. Return EXIT_DONE, or print a message
 * and return EXIT_BAD_USAGE.
 */
int flame_file_check(const char *verb, const char *path);

/*
 * Write the flame graph. An HTML page contains the original profile, and applies the
 * rules itself. An image shows `changed`, the profile with the rules applied. Return 0,
 * or print a message and return -errno.
 */
int flame_file_write(const char *path, const struct profile *profile,
		     const struct profile *changed, const struct flame_page *page);

/*
 * Write a flame graph of the difference between two profiles, before and after. Return 0,
 * or print a message and return -errno.
 */
int flame_file_write_diff(const char *path, const struct profile profiles[2],
			  const struct profile changed[2], const struct flame_page *page);

#endif
