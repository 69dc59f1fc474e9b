/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - the options of memstate count. */
#ifndef MS_CMD_COUNT_OPTIONS_H
#define MS_CMD_COUNT_OPTIONS_H

#include <stdbool.h>

#include "cmd/core/options.h"
#include "probe/count/request.h"

struct count_options {
	struct options common;
	bool calls_only;
	enum count_method method; /* how to count in running processes */
	uint64_t iterations;
	const char *check; /* file with limits to check, or NULL */
	/* name of a test in the limits file; NULL: use the limits of the program */
	const char *test;
	bool update;
	const char *scale, *sizes; /* arguments of --scale and --sizes, or NULL */
	uint64_t max_exponent_thousandths;
	bool has_max_exponent;
	/* smallest share of the total to show, in units of 1/PROFILE_MIN_UNIT */
	uint64_t min;
	bool has_min;
	const char *folded, *speedscope; /* names of output files, or NULL */
	/* true if the user gave --stacks itself, not only an option that implies it */
	bool stacks;
	bool live;
	/* record on average one allocation per this number of bytes; 0: not given */
	uint64_t sample_bytes;
	/* names of the profiles to write and to read, or NULL */
	const char *record, *replay;
};

extern const struct count_options count_defaults;

extern const struct option_row count_own_rows[];

/*
 * Convert a pointer to the shared options into a pointer to the options of cmd_count that
 * contain them. `o` must point to the shared options of that command.
 */
static inline const struct count_options *count_options(const struct options *o)
{
	return (const struct count_options *)o;
}

/* Return true if --stacks or an option that implies it is set. */
bool count_records_stacks(const struct options *o);

/* Return true if the output is a profile of call stacks in addition to the counts. */
bool count_has_stacks(const struct options *o);

#endif
