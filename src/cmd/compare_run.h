/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_run - one run of a command under one allocator, from its start to its end, with
 * its samples.
 */
#ifndef MS_CMD_COMPARE_RUN_H
#define MS_CMD_COMPARE_RUN_H

#include "cmd/options.h"
#include "model/comparison.h"
#include "sample/run_sampler.h"

/* What all runs have in common; borrowed. */
struct compare_context {
	const struct options *options;
	struct comparison *comparison;
	char ***environments; /* of the variants */
	const struct procfs *fs;
	struct run_sampler *sampler;
};

enum run_purpose {
	RUN_MEASURES,
	RUN_WARMS_UP,
	RUN_COUNTS, /* allocations; its environment is one for that */
};

/*
 * Make one run, and add it to the comparison. A run that fails is there with its problem,
 * and it is said; so is one that the user ends. Returns 0, or -errno after the message:
 * it cannot be started, nor can any other.
 */
int compare_run_one(const struct compare_context *context, size_t variant, unsigned int number,
		    enum run_purpose purpose);

#endif
