/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform_regex - compile the regular expressions of rules (see
 * transform_rules.h). Rejects what has another meaning in JavaScript or could need
 * unbounded time, then uses regcomp(3).
 */
#ifndef MS_CLASSIFY_PROFILE_TRANSFORM_REGEX_H
#define MS_CLASSIFY_PROFILE_TRANSFORM_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "classify/profile/transform_rules.h"

#define TRANSFORM_PARTS_MAX 10 /* the whole match, and nine groups in () */

/*
 * Compile a pattern. Returns 0, or -EINVAL with the reason in *reterr. Release *ret with
 * regfree(3) only after 0.
 */
int transform_regex_compile(const char *pattern, regex_t *ret,
			    struct transform_error *reterr);

/*
 * Find the first nonempty match from text[at] on. ret_parts are offsets in text. Callers
 * must pass at most the first TRANSFORM_NAME_MAX bytes of a name.
 */
bool transform_regex_find(const regex_t *regex, const char *text, size_t at,
			  regmatch_t ret_parts[TRANSFORM_PARTS_MAX]);

#endif
