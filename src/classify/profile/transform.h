/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform - apply rules to a profile, one after the other. Stacks that remain keep
 * their values. Stacks that become equal are merged, and their values added up.
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_H

#include "classify/profile/transform_rules.h"
#include "model/profile.h"

/*
 * Apply one or more rules, none of which may be a set. Return 0; -EINVAL if the regular
 * expression of a rule is invalid; -E2BIG if a name became too long; -ETIMEDOUT if
 * matching takes more CPU time than profile_transform_limit_ns. On errors, *reterr
 * contains the reason. Release *ret only after 0.
 */
int profile_transform(const struct profile *profile, const struct transform_list *list,
		      struct profile *ret, struct transform_error *reterr);

/* The CPU time limit of one call, in ns. Only tests change it. */
extern uint64_t profile_transform_limit_ns;

#endif
