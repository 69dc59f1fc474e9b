/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - what a comparison means, in plain sentences. Pure.
 *
 * Each comes from a named rule; memstate(1) lists them under VERDICT with their
 * thresholds. The first that holds is the verdict, the others are said beside it. Two
 * figures differ when their medians are further apart than both spreads together, and by
 * a least amount.
 */
#ifndef MS_CLASSIFY_VERDICT_H
#define MS_CLASSIFY_VERDICT_H

#include "base/strbuf.h"
#include "classify/compare.h"

struct verdict {
	const char *rule; /* its name in the man page */
	struct strbuf
		text; /* a sentence or two; names in it are as they were asked for: foreign */
};

#define VERDICT_MAX 16

struct verdicts {
	struct verdict items[VERDICT_MAX];
	size_t count;
};

/* At least one sentence, the verdict, if there is a variant at all. */
void verdicts_init(struct verdicts *verdicts, const struct compared *compared);
void verdicts_release(struct verdicts *verdicts);

/* The names of all rules, in their order; ends with NULL. */
extern const char *const verdict_rules[];

#endif
