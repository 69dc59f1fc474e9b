/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/options_count.h"

#include <errno.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/profile/report.h"

#define ITERATIONS_MAX UINT64_C(1000000000)

bool *options_count_flag(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_CALLS_ONLY: return &count->calls_only;
	case OPTION_UPDATE: return &count->update;
	case OPTION_STACKS: return &count->stacks;
	case OPTION_LIVE: return &count->live;
	default: return NULL;
	}
}

const char **options_count_word(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_PROBE: return &count->probe;
	case OPTION_RECORD: return &count->record;
	case OPTION_REPLAY: return &count->replay;
	case OPTION_CHECK: return &count->check;
	case OPTION_TEST: return &count->test;
	case OPTION_SCALE: return &count->scale;
	case OPTION_SIZES: return &count->sizes;
	case OPTION_FOLDED: return &count->folded;
	case OPTION_SPEEDSCOPE: return &count->speedscope;
	default: return NULL;
	}
}

static void add_rule(struct count_options *count, enum option_id id, const char *arg)
{
	count->rules = xgrow(count->rules, &count->rule_capacity, count->rule_count + 1,
			     sizeof(*count->rules));
	count->rules[count->rule_count++] =
		(struct count_rule){ id == OPTION_TRANSFORMS, arg };
}

bool options_count_records_stacks(const struct count_options *count)
{
	return count->stacks || count->live || count->sample_bytes > 0;
}

int options_count_value(struct count_options *count, enum option_id id, const char *arg,
			const char **ret_want)
{
	uint64_t thousandths;

	switch (id) {
	case OPTION_ITERATIONS:
		*ret_want = "a number from 1 to 1000000000";
		if (num_parse_u64(arg, &count->iterations) < 0 ||
		    count->iterations == 0 || count->iterations > ITERATIONS_MAX)
			return -ERANGE;
		return 0;
	case OPTION_MAX_EXPONENT:
		*ret_want = "a number, as 1 or 1.25";
		count->has_max_exponent = true;
		return num_parse_thousandths(arg, &count->max_exponent_thousandths) < 0
			       ? -ERANGE
			       : 0;
	case OPTION_MIN:
		*ret_want = "a percentage from 0 to 100";
		if (num_parse_thousandths(arg, &thousandths) < 0 ||
		    thousandths > PROFILE_MIN_UNIT)
			return -ERANGE;
		count->has_min = true;
		count->min = (unsigned int)thousandths;
		return 0;
	case OPTION_TRANSFORM:
	case OPTION_TRANSFORMS:
		add_rule(count, id, arg); /* parsed once all files of sets are known */
		return 0;
	case OPTION_SAMPLE:
		*ret_want = "bytes, as 64K or 512K";
		if (units_parse_bytes(arg, &count->sample_bytes) < 0 ||
		    count->sample_bytes == 0)
			return -ERANGE;
		return 0;
	default: return -EINVAL;
	}
}

bool options_count_has_stacks(const struct count_options *count)
{
	return count->replay || options_count_records_stacks(count);
}
