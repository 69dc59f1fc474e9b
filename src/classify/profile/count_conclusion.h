/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_conclusion - write the first sentences of the report on counted allocations, and
 * suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_PROFILE_COUNT_CONCLUSION_H
#define MS_CLASSIFY_PROFILE_COUNT_CONCLUSION_H

#include "model/conclusion.h"
#include "model/count.h"

/* How allocations were counted, which determines the suggested command. */
struct count_origin {
	/*
	 * Options and counted command as shell words, each preceded by a space. NULL: a
	 * running process was counted.
	 */
	const char *command;
	/* pid of the running process; 0: several processes or a command were counted */
	int pid;
	bool has_ended;	 /* true if the counted process has ended */
	bool has_stacks; /* true if call stacks were recorded in addition to the counts */
};

/*
 * Add sentences about the number of allocations and the memory that was not freed, and
 * suggest the next command.
 */
void count_conclude(struct conclusion *c, const struct count_sums *sums,
		    const struct count_origin *origin);

#endif
