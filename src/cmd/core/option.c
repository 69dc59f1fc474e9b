/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/option.h"

#include <errno.h>

#include "base/num.h"
#include "base/units.h"

int option_set_word(const struct option_row *row, char *arg, struct options *o)
{
	*(const char **)((char *)o + row->value) = arg;
	return 0;
}

static int set_u64(const struct option_row *row, const char *arg, struct options *o,
		   int (*parse)(const char *text, uint64_t *ret))
{
	uint64_t value;

	if (parse(arg, &value) < 0 || value < row->min ||
	    (row->max > 0 && value > row->max))
		return -EINVAL;
	*(uint64_t *)((char *)o + row->value) = value;
	return 0;
}

int option_set_number(const struct option_row *row, char *arg, struct options *o)
{
	return set_u64(row, arg, o, num_parse_u64);
}

int option_set_duration(const struct option_row *row, char *arg, struct options *o)
{
	return set_u64(row, arg, o, units_parse_duration);
}

int option_set_bytes(const struct option_row *row, char *arg, struct options *o)
{
	return set_u64(row, arg, o, units_parse_bytes);
}

int option_set_thousandths(const struct option_row *row, char *arg, struct options *o)
{
	return set_u64(row, arg, o, num_parse_thousandths);
}

int option_set_percent(const struct option_row *row, char *arg, struct options *o)
{
	return set_u64(row, arg, o, units_parse_percent);
}
