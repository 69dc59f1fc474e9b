/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_conclusion - the sentences that open the report about one process, and the
 * command to run next. Pure.
 */
#ifndef MS_CLASSIFY_PROCESS_PROCESS_CONCLUSION_H
#define MS_CLASSIFY_PROCESS_PROCESS_CONCLUSION_H

#include "model/conclusion.h"
#include "model/usage.h"

/*
 * Add Rss and what most of it is. If that is anonymous memory of a language runtime, also
 * name the tool that shows the runtime's heap.
 */
void process_conclude(struct conclusion *c, const struct usage *u,
		      const struct mapping_list *mappings);

/* Set the next command. Set none if no command can examine the process at that place. */
void process_conclude_next(struct conclusion *c, const struct usage *u,
			   const struct next_place *place);

/*
 * Add Rss, the number of mappings and the largest owner, for the list of mappings, and
 * set the next command.
 */
void process_conclude_map(struct conclusion *c, const struct usage *u,
			  const struct next_place *place);

/*
 * Add the process with the largest Pss and its share of the sum, and set the next
 * command. Rss is used if the Pss of no process is known. Without known memory, add
 * nothing.
 */
void processes_conclude(struct conclusion *c, const struct usage *const *usages,
			size_t count, const struct next_place *place);

#endif
