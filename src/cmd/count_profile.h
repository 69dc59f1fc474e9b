/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_profile - the stacks that allocations were counted by, from files and from
 * programs.
 */
#ifndef MS_CMD_COUNT_PROFILE_H
#define MS_CMD_COUNT_PROFILE_H

#include "cmd/options.h"

/* Show the profile in a file (--replay). Returns enum exit_status. */
int count_profile_replay(const struct options *o);

#endif
