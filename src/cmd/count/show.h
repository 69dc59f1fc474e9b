/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show - write a profile to standard output and to the files that the options name.
 */
#ifndef MS_CMD_COUNT_SHOW_H
#define MS_CMD_COUNT_SHOW_H

#include <stdbool.h>

#include "cmd/core/options.h"
#include "model/profile.h"

/*
 * Check the output options before there is a profile. Returns an enum exit_status; a
 * message reports what is wrong.
 */
int count_show_check(const struct options *o);

/* Whether standard output gets a report. False if one of the files is standard output. */
bool count_show_has_report(const struct options *o);

/*
 * Apply the rules, write the files, then the report. Returns EXIT_DONE; or EXIT_BAD_USAGE
 * or EXIT_FAILED after a message.
 */
int count_show_profile(const struct options *o, const struct profile *profile);

#endif
