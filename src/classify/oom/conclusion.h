/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conclusion - write the first sentences of the reports of 'memstate oom' and 'memstate
 * oom predict', and suggest the commands to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_CONCLUSION_H
#define MS_CLASSIFY_OOM_CONCLUSION_H

#include "classify/cgroup/figures.h"
#include "classify/growth/trends.h"
#include "model/conclusion.h"

struct oom_conclusion_options {
	bool ascii; /* true to convert names and paths to ASCII */
	bool exact_bytes;
	/* file name of the recording that the report describes, or NULL */
	const char *recording;
	/*
	 * Command-line options that make a suggested command read the live cgroup, each
	 * preceded by a space. "": no options are needed; NULL: the cgroup may no longer
	 * exist.
	 */
	const char *live_options;
};

/*
 * Add sentences about how much of its limit the cgroup uses, and how much of its memory
 * is not reclaimable. `need` is the growth of its memory need, or NULL.
 */
void oom_conclude_group(struct conclusion *c, const struct cgroup *cgroup,
			const struct oom_figures *figures, const struct trend *need,
			const struct oom_conclusion_options *options);

struct oom_growth_facts {
	/* the sampled cgroup; NULL if only processes were sampled */
	const struct cgroup *cgroup;
	const struct trend *need; /* trend of the cgroup's memory need */
	/* trends of the processes, fastest growth first */
	const struct process_trend *processes;
	size_t process_count;
	/* unit of all rates */
	const struct units_rate *unit;
};

/*
 * Add a sentence about the growth of the cgroup's memory need or, without a cgroup, of
 * the processes' memory need.
 */
void oom_conclude_growth(struct conclusion *c, const struct oom_growth_facts *facts,
			 const struct oom_conclusion_options *options);

#endif
