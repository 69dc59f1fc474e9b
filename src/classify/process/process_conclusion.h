/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_conclusion - write the first sentences of the report about one process, and
 * suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_PROCESS_PROCESS_CONCLUSION_H
#define MS_CLASSIFY_PROCESS_PROCESS_CONCLUSION_H

#include "model/conclusion.h"
#include "model/usage.h"

/*
 * Add a sentence about Rss and its largest part. If that part is anonymous memory of a
 * language runtime, also name the tool that shows the runtime's heap.
 */
void process_conclude(struct conclusion *c, const struct usage *u,
		      const struct mapping_list *mappings);

/* Suggest the next command, unless no command can examine the process. */
void process_conclude_next(struct conclusion *c, const struct usage *u,
			   const struct next_place *place);

/*
 * For the report that lists mappings, add a sentence with Rss, the number of mappings and
 * the owner with the most memory. Suggest the next command.
 */
void process_conclude_map(struct conclusion *c, const struct usage *u,
			  const struct next_place *place);

/*
 * Add a sentence about the process with the largest Pss and its share of the sum, and
 * suggest the next command. If Pss is unknown for all processes, use Rss. If no memory
 * figure is known, add nothing.
 */
void processes_conclude(struct conclusion *c, const struct usage *const *usages,
			size_t count, const struct next_place *place);

#endif
