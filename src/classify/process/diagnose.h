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

/*
 * Return true if the sentence describes the memory as a whole; the sentences of the other
 * rules add details.
 */
bool diagnosis_is_verdict(const struct diagnosis *d);

/* Return a phrase for the memory of an owner, worded to follow "Most of it is". Static. */
const char *diagnose_owner_phrase(const struct usage *u, enum owner owner);

/* The names of all rules in order; ends with NULL. */
extern const char *const diagnosis_rules[];

#endif
