/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diagnose - explain the figures of one process in plain sentences. Pure.
 *
 * Each sentence comes from a named rule with fixed thresholds; memstate(1) lists the
 * rules under DIAGNOSIS. A rule does not apply if a figure that it needs is unknown.
 */
#ifndef MS_CLASSIFY_PROCESS_DIAGNOSE_H
#define MS_CLASSIFY_PROCESS_DIAGNOSE_H

#include <stddef.h>

#include "model/usage.h"

#define DIAGNOSIS_TEXT_SIZE 280

struct diagnosis {
	const char *rule;		/* name of the rule in the man page; static */
	char text[DIAGNOSIS_TEXT_SIZE]; /* one or two sentences in ASCII */
};

/* Write at most max sentences, most important first. Return their number. */
size_t diagnose(const struct usage *u, struct diagnosis *ret, size_t max);

/* The names of all rules in order; ends with NULL. */
extern const char *const diagnosis_rules[];

#endif
