/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_stacks - profiles from text that a test can spell out, and back to text.
 *
 * "main;parse;xmalloc 2 64\n": function names without leading or trailing blanks,
 * then the number of allocations, then the bytes if they are known. The name
 * "[cut]" marks a truncated stack.
 */
#ifndef MS_TESTS_MADE_STACKS_H
#define MS_TESTS_MADE_STACKS_H

#include "model/profile.h"

void made_stacks(struct profile *ret, const char *text);

/*
 * Return the profile as sorted lines, "main;parse;xmalloc 2\n", one for each path with a
 * value. The caller frees the text.
 */
char *made_stacks_text(const struct profile *profile, enum profile_metric metric);

#endif
