/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform - apply rules, one after the other, to the stacks of a profile. The
 * remaining stacks keep their values. Stacks that become equal are merged, and
 * their values are added up.
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_H

#include "classify/profile/transform_rules.h"
#include "model/profile.h"

/*
 * Apply one or more rules; rules that refer to sets are not allowed. Return 0; -EINVAL if
 * the regular expression of a rule is invalid; -E2BIG if a name becomes too long; or
 * -ETIMEDOUT if matching takes more CPU time than profile_transform_limit_ns. On error,
 * *reterr contains the reason. The caller releases *ret only on success.
 */
int profile_transform(const struct profile *profile, const struct transform_list *list,
		      struct profile *ret, struct transform_error *reterr);

/* CPU time limit of one profile_transform() call in ns. Only tests change the limit. */
extern uint64_t profile_transform_limit_ns;

#endif
