/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - explain the result of a comparison in plain sentences. The functions
 * are pure.
 *
 * Each sentence comes from a named rule; memstate-compare(1) lists the rules and their
 * thresholds under VERDICT. The first rule that applies provides the verdict; other rules
 * that apply add further sentences. Two variants differ in a figure if the difference
 * between their medians exceeds both the sum of their spreads and a minimum amount.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_H
#define MS_CLASSIFY_COMPARE_VERDICT_H

#include "base/strbuf.h"
#include "classify/compare/compare.h"

struct verdict {
	const char *rule; /* static name of the rule, as in memstate-compare(1) */
	/*
	 * One or two sentences. They may contain names of variants, which come from the
	 * user and are not escaped.
	 */
	struct strbuf text;
};

#define VERDICT_MAX 16

struct verdicts {
	struct verdict items[VERDICT_MAX];
	size_t count;
};

/*
 * Write the sentences that explain a comparison, starting with the verdict. If there are
 * no variants, write nothing.
 */
void verdicts_init(struct verdicts *verdicts, const struct compared *compared);
void verdicts_release(struct verdicts *verdicts);

/* NULL-terminated list of the names of all rules, in order of priority. */
extern const char *const verdict_rules[];

#endif
