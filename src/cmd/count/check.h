/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check - compare runs with the limits in a file (--check), or set the limits in the file
 * to the measured values (--update).
 */
#ifndef MS_CMD_COUNT_CHECK_H
#define MS_CMD_COUNT_CHECK_H

#include "cmd/core/options.h"
#include "render/profile/runs_report.h"
#include "store/profile/limits_file.h"

struct count_check {
	const struct options *options;
	struct limits_file file;
	/* name of the test; NULL: the limits before the first test */
	const char *test;
	struct checked_limit *limits; /* limits in the order of the file */
	/* line of each limit, as an index into the lines of the file */
	size_t *lines;
	size_t limit_count;
};

#define COUNT_CHECK_INIT         \
	{                        \
		.options = NULL, \
	}

/*
 * Read the limits file, find the limits for the program named `program`, and compare the
 * runs with them. With --update, first set the limits to the measured values. Return
 * EXIT_DONE, or print a message and return EXIT_NOT_COUNTED.
 */
int count_check_begin(struct count_check *check, const struct options *options,
		      const char *program, const struct count_stats *stats);

/*
 * Report exceeded limits. With --update, write the limits file. Return memstate's
 * exit status.
 */
int count_check_end(const struct count_check *check, const struct count_stats *stats);

void count_check_release(struct count_check *check);

#endif
