/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform_regex - compile the regular expressions of rules (transform_rules.h).
 * Expressions that have a different meaning in JavaScript, or whose matching could take
 * unbounded time, are rejected. Matching uses regcomp(3) and regexec(3).
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_REGEX_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "classify/profile/transform_rules.h"

/* Maximum number of parts of a match: the whole match and nine parenthesized groups. */
#define TRANSFORM_PARTS_MAX 10

/*
 * Compile a regular expression. Return 0, or -EINVAL with the reason in *reterr. On
 * success, the caller releases *ret with regfree(3).
 */
int transform_regex_compile(const char *pattern, regex_t *ret,
			    struct transform_error *reterr);

/*
 * Find the first nonempty match at or after text[at]. The offsets in ret_parts are
 * relative to the start of `text`, which must be at most TRANSFORM_NAME_MAX bytes long.
 */
bool transform_regex_find(const regex_t *regex, const char *text, size_t at,
			  regmatch_t ret_parts[TRANSFORM_PARTS_MAX]);

#endif
