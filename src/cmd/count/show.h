/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show - write a profile to standard output and to the files that the options name. */
#ifndef MS_CMD_COUNT_SHOW_H
#define MS_CMD_COUNT_SHOW_H

#include <stdbool.h>

#include "cmd/core/options.h"
#include "model/profile.h"

/*
 * Check the output options before a profile exists. Return an enum exit_status, after
 * printing a message if an option is wrong.
 */
int count_show_check(const struct options *o);

/*
 * Return true if a report is written to standard output. There is no report if one of the
 * requested files is standard output.
 */
bool count_show_has_report(const struct options *o);

/*
 * Apply the rules to the profile, and write the files and the report. Return EXIT_DONE,
 * or print a message and return EXIT_BAD_USAGE or EXIT_FAILED.
 */
int count_show_profile(const struct options *o, const struct profile *profile);

#endif
