/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - explain the result of a comparison in plain sentences. Pure.
 *
 * Each sentence comes from a named rule; memstate(1) lists the rules and their
 * thresholds under VERDICT. The first rule that holds is the verdict. The sentences of
 * other rules that hold are added to the verdict. Two figures differ if their medians
 * are further apart than the sum of both spreads, and further than a minimum amount.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_H
#define MS_CLASSIFY_COMPARE_VERDICT_H

#include "base/strbuf.h"
#include "classify/compare/compare.h"

struct verdict {
	const char *rule; /* name of the rule in the man page; static */
	/*
	 * One or two sentences. Variant names in the text come from
	 * the user and are not escaped.
	 */
	struct strbuf text;
};

#define VERDICT_MAX 16

struct verdicts {
	struct verdict items[VERDICT_MAX];
	size_t count;
};

/*
 * Create the sentences. The first one is the verdict. Without
 * variants there are no sentences.
 */
void verdicts_init(struct verdicts *verdicts, const struct compared *compared);
void verdicts_release(struct verdicts *verdicts);

/* The names of all rules in order; ends with NULL. */
extern const char *const verdict_rules[];

#endif
