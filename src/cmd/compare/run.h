/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run - make one run of a command with one allocator, and take samples from its start to
 * its end.
 */
#ifndef MS_CMD_COMPARE_RUN_H
#define MS_CMD_COMPARE_RUN_H

#include "cmd/core/options.h"
#include "model/comparison.h"
#include "sample/run/run_sampler.h"

/* State shared by all runs of a comparison. All pointers are borrowed. */
struct compare_context {
	const struct options *options;
	struct comparison *comparison;
	char ***environments; /* environment for each variant */
	const struct procfs *fs;
	struct run_sampler *sampler;
};

enum run_purpose {
	RUN_MEASURES,
	RUN_WARMS_UP,
	/* a run that counts allocations; its environment preloads the counting library */
	RUN_COUNTS,
};

/*
 * Make one run and add it to the comparison. A run that fails, or that the user ends, is
 * added with its problem set, and a message reports the problem. Returns 0, or prints a
 * message and returns -errno if the command cannot be started, in which case further runs
 * are pointless.
 */
int compare_run_one(const struct compare_context *context, size_t variant,
		    unsigned int number, enum run_purpose purpose);

#endif
