/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diagnose - what the figures of one process mean, in plain sentences. Pure.
 *
 * Each sentence comes from a named rule with fixed thresholds; memstate(1) lists them under
 * DIAGNOSIS, and a rule that wants a figure that is not known says nothing.
 */
#ifndef MS_CLASSIFY_DIAGNOSE_H
#define MS_CLASSIFY_DIAGNOSE_H

#include <stddef.h>

#include "model/usage.h"

#define DIAGNOSIS_TEXT_SIZE 280

struct diagnosis {
	const char *rule;		/* its name in the man page */
	char text[DIAGNOSIS_TEXT_SIZE]; /* one sentence or two, ASCII */
};

/* The sentences that hold, the most telling first, at most `max`. Returns how many. */
size_t diagnose(const struct usage *u, struct diagnosis *ret, size_t max);

/* The names of all rules, in their order; ends with NULL. */
extern const char *const diagnosis_rules[];

#endif
