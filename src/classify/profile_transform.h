/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_transform - a profile changed by rules, in their order. What is kept has the
 * values that it had; stacks that become the same are added up.
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_H

#include "classify/transform_rules.h"
#include "model/profile.h"

/*
 * The profile with the rules applied: one or more, none of which is a set. Returns 0; -EINVAL with the reason
 * where the regular expression of a rule cannot be used; -E2BIG with it where a name grew too
 * long, -ETIMEDOUT where searching takes more CPU time than profile_transform_limit_ns. *ret is
 * to be released after 0 only.
 */
int profile_transform(const struct profile *profile, const struct transform_list *list,
		      struct profile *ret, struct transform_error *reterr);

/* The limit of CPU time of one call; only tests change it. */
extern uint64_t profile_transform_limit_ns;

#endif
