/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moments - compare the processes at two points in time, which come from captures or
 * recordings (memstate diff).
 */
#ifndef MS_CMD_DIFF_MOMENTS_H
#define MS_CMD_DIFF_MOMENTS_H

#include "cmd/core/options.h"

/* The options of cmd_diff. */
struct diff_options {
	struct options common;
	uint64_t depth; /* number of functions per stack to compare; 0: all */
	/*
	 * arguments of the options, unparsed because their unit depends on the
	 * metric; NULL: not given
	 */
	const char *minimum, *fail_above;
	bool keeps_generics;
};

/*
 * Convert a pointer to the shared options into a pointer to the options of cmd_diff that
 * contain them. `o` must point to the shared options of that command.
 */
static inline const struct diff_options *diff_options(const struct options *o)
{
	return (const struct diff_options *)o;
}

/*
 * Return true if an argument names a folder, or a file whose content shows that it is a
 * recording. "@TIME" may follow the name.
 */
bool diff_moments_are_given(const struct options *options);

/*
 * Compare the two recorded or captured points in time that the arguments select, and
 * print the result. Return an exit status.
 */
int diff_moments_run(struct options *options);

#endif
