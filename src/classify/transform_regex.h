/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transform_regex - the regular expressions of rules, see transform_rules.h: checked for what
 * does not mean the same elsewhere, or would take without bound, then regcomp(3)'s.
 */
#ifndef MS_CLASSIFY_TRANSFORM_REGEX_H
#define MS_CLASSIFY_TRANSFORM_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "classify/transform_rules.h"

#define TRANSFORM_PARTS_MAX 10 /* all that matched, and nine in () */

/* Returns 0; -EINVAL with the reason. *ret is to be given to regfree(3) after 0 only. */
int transform_regex_compile(const char *pattern, regex_t *ret, struct transform_error *reterr);

/*
 * The first match that is not empty, from text[at] on; its parts are places in text. Only the
 * first TRANSFORM_NAME_MAX bytes of a text are to be given.
 */
bool transform_regex_find(const regex_t *regex, const char *text, size_t at,
			  regmatch_t ret_parts[TRANSFORM_PARTS_MAX]);

#endif
