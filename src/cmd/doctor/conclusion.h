/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conclusion - the sentences that open the report of the checks, and the command to run
 * next. Pure.
 */
#ifndef MS_CMD_DOCTOR_CONCLUSION_H
#define MS_CMD_DOCTOR_CONCLUSION_H

#include "cmd/doctor/facts.h"
#include "model/conclusion.h"

/* The answers of the checks that were run. */
struct doctor_answers {
	size_t check_count, yes_count;
	size_t limited_count;  /* checks with the answer no or partly */
	size_t fix_count;      /* limited checks whose finding has a fix */
	struct strbuf limited; /* names of the limited checks */
	const char
		/* name of the first essential check whose answer is no, or NULL */
		*failed;
	const char *failed_fix;
};

/* Count the finding of a check. */
void doctor_answers_add(struct doctor_answers *answers, const struct check *check,
			const struct finding *finding);
void doctor_answers_release(struct doctor_answers *answers);

/*
 * Add whether memory can be measured, and which checks found a limit. Set the command
 * that shows the memory of the process, or if it is NULL, of all processes, provided that
 * all can be read.
 */
void doctor_conclude(struct conclusion *c, const struct doctor_answers *answers,
		     const struct process *process, const struct next_place *place);

#endif
