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
	/* a run that counts allocations, with the counting library preloaded */
	RUN_COUNTS,
};

/*
 * Make one run and add it to the comparison. If the run fails, set its `problem` member
 * and print a message; if the user interrupts the run, only set the member. Return 0, or
 * print a message and return -errno if the command or the workload cannot be started, in
 * which case more runs are pointless.
 */
int compare_run_one(const struct compare_context *context, size_t variant,
		    unsigned int number, enum run_purpose purpose);

#endif
