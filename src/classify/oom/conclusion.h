/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conclusion - the sentences that open the reports of memstate oom and oom predict, and
 * the commands to run next. Pure.
 */
#ifndef MS_CLASSIFY_OOM_CONCLUSION_H
#define MS_CLASSIFY_OOM_CONCLUSION_H

#include "classify/cgroup/figures.h"
#include "classify/growth/trends.h"
#include "model/conclusion.h"

struct oom_conclusion_options {
	bool ascii; /* names and paths are ASCII */
	bool exact_bytes;
	/* the recording that the report is about, or NULL */
	const char *recording;
	/*
	 * options of commands that read the live cgroup, each after a blank; "": none are
	 * necessary; NULL: the cgroup may no longer exist
	 */
	const char *live_options;
};

/*
 * Conclude how much of its limit the cgroup uses, and how much of that cannot be
 * reclaimed. `need` is the growth of its memory need, or NULL.
 */
void oom_conclude_group(struct conclusion *c, const struct cgroup *cgroup,
			const struct oom_figures *figures, const struct trend *need,
			const struct oom_conclusion_options *options);

struct oom_growth_facts {
	/* NULL if only processes are known */
	const struct cgroup *cgroup;
	const struct trend *need; /* of the cgroup */
	/* sorted by growth, fastest first */
	const struct process_trend *processes;
	size_t process_count;
	/* unit of all rates */
	const struct units_rate *unit;
};

/*
 * Conclude whether the memory need of the cgroup, or of processes without a
 * cgroup, grows.
 */
void oom_conclude_growth(struct conclusion *c, const struct oom_growth_facts *facts,
			 const struct oom_conclusion_options *options);

#endif
