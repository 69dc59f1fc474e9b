/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_stacks - profiles from text that can be seen in a test, and back.
 *
 * "main;parse;xmalloc 2 64\n": names without blanks' ends, then allocations, and bytes where
 * they are known. A name as "[cut]" is a stack that was cut.
 */
#ifndef MS_TESTS_MADE_STACKS_H
#define MS_TESTS_MADE_STACKS_H

#include "model/profile.h"

void made_stacks(struct profile *ret, const char *text);

/* Lines sorted, of each path by names one, "main;parse;xmalloc 2\n"; to be freed. */
char *made_stacks_text(const struct profile *profile, enum profile_metric metric);

#endif
