/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_check - runs held against the limits in a file (--check), or the file set to them
 * (--update).
 */
#ifndef MS_CMD_COUNT_CHECK_H
#define MS_CMD_COUNT_CHECK_H

#include "cmd/options.h"
#include "render/runs_report.h"
#include "store/limits_file.h"

struct count_check {
	const struct options *options;
	struct limits_file file;
	const char *test; /* NULL: the limits before the first test */
	struct checked_limit *limits; /* in the order of the file */
	size_t *lines; /* of each, its index in the file */
	size_t limit_count;
};

#define COUNT_CHECK_INIT         \
	{                        \
		.options = NULL, \
	}

/*
 * Read the file, find the limits for a program of that name, and compare; with --update
 * set them before that. Returns EXIT_DONE; or EXIT_NOT_COUNTED after the message.
 */
int count_check_begin(struct count_check *check, const struct options *options,
		      const char *program, const struct count_stats *stats);

/* Write the file if that is asked for; say what is broken. Returns the status to end with. */
int count_check_end(const struct count_check *check, const struct count_stats *stats);

void count_check_release(struct count_check *check);

#endif
