/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/verdict_next.h"

#include <string.h>

#include "base/text.h"

/* The next step that a report recommends after its verdict. */
enum next_step {
	STEP_STACKS, /* find out which functions allocate most */
	STEP_LIVE,   /* find out which blocks are never freed */
	STEP_RUNS,   /* repeat the comparison with more runs */
};

static const struct {
	const char *rule;
	enum next_step step;
} steps[] = {
	{ "too-few-runs", STEP_RUNS }, { "wide-spread", STEP_RUNS },
	{ "live-same", STEP_LIVE },    { "live-grows", STEP_LIVE },
	{ "rss-grows", STEP_LIVE },
};

static enum next_step find_step(const char *rule)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].rule, rule) == 0)
			return steps[i].step;
	return STEP_STACKS;
}

static bool has_failed_run(const struct compared *compared)
{
	for (size_t v = 0; v < compared->comparison->variant_count; v++)
		if (compared->variants[v].failed_count > 0)
			return true;
	return false;
}

void verdicts_conclude_next(struct conclusion *c, const struct verdicts *verdicts,
			    const struct compared *compared, const char *preload,
			    const char *command)
{
	_cleanup_strbuf_ struct strbuf variants = STRBUF_INIT;

	if (verdicts->count == 0 || compared->comparison->workload ||
	    has_failed_run(compared))
		return;
	switch (find_step(verdicts->items[0].rule)) {
	case STEP_RUNS:
		text_add_shell_word(&variants, preload);
		conclusion_set_next(c, "memstate --preload %s --runs 10 --%s",
				    variants.text, command);
		break;
	case STEP_LIVE:
		conclusion_set_next(c, "memstate count --live --%s", command);
		break;
	case STEP_STACKS: conclusion_set_next(c, "memstate count --stacks --%s", command);
	}
}
