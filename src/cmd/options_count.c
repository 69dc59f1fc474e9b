/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/options_count.h"

#include <errno.h>

#include "base/num.h"

#define ITERATIONS_MAX UINT64_C(1000000000)

bool *options_count_flag(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_CALLS_ONLY:
		return &count->calls_only;
	case OPTION_UPDATE:
		return &count->update;
	default:
		return NULL;
	}
}

const char **options_count_word(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_PROBE:
		return &count->probe;
	case OPTION_REPLAY:
		return &count->replay;
	case OPTION_CHECK:
		return &count->check;
	case OPTION_TEST:
		return &count->test;
	case OPTION_SCALE:
		return &count->scale;
	case OPTION_SIZES:
		return &count->sizes;
	default:
		return NULL;
	}
}

int options_count_number(struct count_options *count, enum option_id id, const char *arg,
			 const char **ret_want)
{
	switch (id) {
	case OPTION_ITERATIONS:
		*ret_want = "a number from 1 to 1000000000";
		if (num_parse_u64(arg, &count->iterations) < 0 || count->iterations == 0 ||
		    count->iterations > ITERATIONS_MAX)
			return -ERANGE;
		return 0;
	case OPTION_MAX_EXPONENT:
		*ret_want = "a number, as 1 or 1.25";
		count->has_max_exponent = true;
		return num_parse_thousandths(arg, &count->max_exponent_thousandths) < 0 ? -ERANGE : 0;
	default:
		return -EINVAL;
	}
}
