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
 * Check the output options before there is a profile. Returns an enum exit_status; if an
 * option is wrong, a message reports it.
 */
int count_show_check(const struct options *o);

/*
 * Return true if a report is written to standard output. Return false if one of the
 * requested files is standard output.
 */
bool count_show_has_report(const struct options *o);

/*
 * Apply the rules to the profile, write the files, then write the report. Returns
 * EXIT_DONE, or prints a message and returns EXIT_BAD_USAGE or EXIT_FAILED.
 */
int count_show_profile(const struct options *o, const struct profile *profile);

#endif
