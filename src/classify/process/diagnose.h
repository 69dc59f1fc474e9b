/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diagnose - explain the memory figures of one process in plain sentences. The functions
 * are pure.
 *
 * Each sentence comes from a named rule with fixed thresholds; memstate-memory(7) lists
 * the rules under DIAGNOSIS. A rule does not apply if one of the figures that it uses is
 * unknown.
 */
#ifndef MS_CLASSIFY_PROCESS_DIAGNOSE_H
#define MS_CLASSIFY_PROCESS_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/usage.h"

#define DIAGNOSIS_TEXT_SIZE 280

struct diagnosis {
	/* static name of the rule, as in memstate-memory(7) */
	const char *rule;
	char text[DIAGNOSIS_TEXT_SIZE]; /* one or two sentences in ASCII */
};

/*
 * Write at most max sentences of the diagnosis, the most important first, and return
 * their number.
 */
size_t diagnose(const struct usage *u, struct diagnosis *ret, size_t max);

/*
 * Apply the rule about free memory spread over many arenas of glibc's malloc in a Java
 * virtual machine. Return false if the rule does not apply.
 */
bool diagnose_arenas(const struct usage *u, struct diagnosis *d);

/*
 * Return true if the sentence sums up the memory of the process. The sentences of other
 * rules add details.
 */
bool diagnosis_is_verdict(const struct diagnosis *d);

/*
 * Return a static phrase for the memory of an owner, for use in the sentence "Most of it
 * is …".
 */
const char *diagnose_owner_phrase(const struct usage *u, enum owner owner);

/* NULL-terminated list of the names of all rules, in order of priority. */
extern const char *const diagnosis_rules[];

#endif
