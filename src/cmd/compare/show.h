/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show - print a comparison in the requested format.
 */
#ifndef MS_CMD_COMPARE_SHOW_H
#define MS_CMD_COMPARE_SHOW_H

#include "cmd/core/options.h"
#include "model/comparison.h"
#include "render/table/column.h"

struct compare_show {
	const struct options *options;
	struct column_list columns;
};

/*
 * Check the output options before the first run. Return EXIT_DONE, or print a message
 * and return another exit status.
 */
int compare_show_begin(struct compare_show *show, const struct options *options);
void compare_show_end(struct compare_show *show);

/*
 * Write the whole comparison. Return `status`, or print a message and return
 * EXIT_FAILED if the output cannot be written.
 */
int compare_show(const struct compare_show *show, const struct comparison *comparison,
		 int status);

#endif
