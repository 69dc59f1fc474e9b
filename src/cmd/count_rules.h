/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_rules - the rules that are said to change stacks by, and the sets of them that
 * there are: memstate's own, the user's, those of files that are named.
 */
#ifndef MS_CMD_COUNT_RULES_H
#define MS_CMD_COUNT_RULES_H

#include "classify/transform_rules.h"
#include "cmd/options.h"

/*
 * The rules of --transform and --transforms, in their order; no set is in them any more.
 * Returns EXIT_DONE; or EXIT_BAD_USAGE or EXIT_FAILED after the message, with *ret untouched.
 */
int count_rules_load(const struct options *o, struct transform_list *ret);

#endif
