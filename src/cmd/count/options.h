/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - the options of memstate count.
 */
#ifndef MS_CMD_COUNT_OPTIONS_H
#define MS_CMD_COUNT_OPTIONS_H

#include <stdbool.h>

#include "cmd/core/options.h"
#include "probe/count/request.h"

struct count_options {
	struct options common;
	bool calls_only;
	enum count_method method; /* for a running process */
	uint64_t iterations;
	const char *check; /* file of limits, or NULL */
	const char *test;  /* which test of the file; NULL: the limits of the program */
	bool update;
	const char *scale, *sizes; /* or NULL */
	uint64_t max_exponent_thousandths;
	bool has_max_exponent;
	uint64_t min; /* out of PROFILE_MIN_UNIT */
	bool has_min;
	const char *folded, *speedscope; /* file names, or NULL */
	/* --stacks; see count_records_stacks() for options that imply it */
	bool stacks;
	bool live;
	uint64_t sample_bytes;	     /* 0: record every allocation */
	const char *record, *replay; /* file names, or NULL */
};

extern const struct count_options count_defaults;

extern const struct option_row count_own_rows[];

/* o must be the options of cmd_count. */
static inline const struct count_options *count_options(const struct options *o)
{
	return (const struct count_options *)o;
}

/* Return true if --stacks or an option that implies it is set. */
bool count_records_stacks(const struct options *o);

/* Return true if the output is a profile rather than only counts. */
bool count_has_stacks(const struct options *o);

#endif
