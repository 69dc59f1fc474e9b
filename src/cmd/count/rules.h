/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules - load the rules for transforming stacks, and the available sets of rules:
 * memstate's own sets, the user's, and those in named files.
 */
#ifndef MS_CMD_COUNT_RULES_H
#define MS_CMD_COUNT_RULES_H

#include "classify/profile/transform_rules.h"
#include "cmd/core/options.h"

struct count_rules {
	/* arguments of --transform and --transforms, in command-line order */
	struct transform_list given;
	/* rules from the arguments, with each set replaced by its rules */
	struct transform_list rules;
	struct transform_sets sets;
};

/*
 * Load the rules that the options name. Return EXIT_DONE, or print a message and
 * return EXIT_BAD_USAGE or EXIT_FAILED. The caller calls count_rules_release() in
 * every case.
 */
int count_rules_load(const struct options *o, struct count_rules *ret);
void count_rules_release(struct count_rules *rules);

#endif
