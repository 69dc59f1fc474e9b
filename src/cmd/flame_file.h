/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_file - the file of --flame-graph: a picture or a page, as its name ends.
 */
#ifndef MS_CMD_FLAME_FILE_H
#define MS_CMD_FLAME_FILE_H

#include "model/profile.h"
#include "render/flame_html.h"

/* Whether its name ends in .svg or .html. Returns EXIT_DONE; EXIT_BAD_USAGE after the message. */
int flame_file_check(const char *verb, const char *path);

/*
 * Write it. A page has the profile as it was, and applies its rules itself; a picture is of
 * the profile that these have changed. Returns 0; -errno after the message.
 */
int flame_file_write(const char *path, const struct profile *profile,
		     const struct profile *changed, const struct flame_page *page);

/* The same of what changed between two: before, after. */
int flame_file_write_diff(const char *path, const struct profile profiles[2],
			  const struct profile changed[2], const struct flame_page *page);

#endif
