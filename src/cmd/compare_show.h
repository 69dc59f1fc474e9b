/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_show - what a comparison says, in the format that was asked for.
 */
#ifndef MS_CMD_COMPARE_SHOW_H
#define MS_CMD_COMPARE_SHOW_H

#include "cmd/options.h"
#include "model/comparison.h"
#include "render/column.h"

struct compare_show {
	const struct options *options;
	struct column_list columns;
};

/*
 * Check what the options ask for, before anything runs. Returns EXIT_DONE, or the status
 * to end with after the message has been given.
 */
int compare_show_begin(struct compare_show *show, const struct options *options);
void compare_show_end(struct compare_show *show);

/* Write it all. Returns the given enum exit_status, or EXIT_FAILED after a message. */
int compare_show(const struct compare_show *show, const struct comparison *comparison,
		 int status);

#endif
