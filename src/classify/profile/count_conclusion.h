/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_conclusion - the sentences that open the report of counted allocations, and the
 * command to run next. Pure.
 */
#ifndef MS_CLASSIFY_PROFILE_COUNT_CONCLUSION_H
#define MS_CLASSIFY_PROFILE_COUNT_CONCLUSION_H

#include "model/conclusion.h"
#include "model/count.h"

/* How the calls were counted, as far as the next command depends on it. */
struct count_origin {
	/* the options and the command as words of a shell, with a blank before each */
	const char *command; /* NULL: a running process */
	int pid;	     /* the running process; 0: several processes, or a command */
	bool has_ended;	     /* the process has ended */
	bool has_stacks;     /* call stacks were recorded, too */
};

/* Add the number of allocations, and what was not freed; and set the next command. */
void count_conclude(struct conclusion *c, const struct count_sums *sums,
		    const struct count_origin *origin);

#endif
