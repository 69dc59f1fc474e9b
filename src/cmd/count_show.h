/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_show - a profile on standard output, and in the files that it is to be written
 * to, as the options say.
 */
#ifndef MS_CMD_COUNT_SHOW_H
#define MS_CMD_COUNT_SHOW_H

#include <stdbool.h>

#include "cmd/options.h"
#include "model/profile.h"

/*
 * What of the options can be seen to be wrong before there is a profile. Returns an enum
 * exit_status, after the message.
 */
int count_show_check(const struct options *o);

/* False: standard output is for one of the files alone. */
bool count_show_has_report(const struct options *o);

/*
 * Apply the rules, write the files, then the report. Returns EXIT_DONE, or EXIT_BAD_USAGE or
 * EXIT_FAILED after the message has been given.
 */
int count_show_profile(const struct options *o, const struct profile *profile);

#endif
