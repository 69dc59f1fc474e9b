/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_rules - the rules that are said to change stacks by, and the sets of them that
 * there are: memstate's own, the user's, those of files that are named.
 */
#ifndef MS_CMD_COUNT_RULES_H
#define MS_CMD_COUNT_RULES_H

#include "classify/transform_rules.h"
#include "cmd/options.h"

struct count_rules {
	struct transform_list said; /* of --transform and --transforms, in their order */
	struct transform_list rules; /* the same, with those of sets in the places of these */
	struct transform_sets sets;
};

/*
 * Returns EXIT_DONE; or EXIT_BAD_USAGE or EXIT_FAILED after the message. To be released after
 * either.
 */
int count_rules_load(const struct options *o, struct count_rules *ret);
void count_rules_release(struct count_rules *rules);

#endif
