/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conclusion - write the first sentences of the report of memstate doctor, and suggest
 * the command to run next. The functions are pure.
 */
#ifndef MS_CMD_DOCTOR_CONCLUSION_H
#define MS_CMD_DOCTOR_CONCLUSION_H

#include "cmd/doctor/facts.h"
#include "model/conclusion.h"
#include "model/heap.h"

/* A summary of the findings of all checks that were run. */
struct doctor_answers {
	size_t check_count, yes_count;
	size_t limited_count; /* number of checks answered "no" or "partly" */
	/* number of checks answered "no" or "partly" for which a fix is known */
	size_t fix_count;
	struct strbuf limited; /* names of the checks answered "no" or "partly" */
	struct strbuf unknown; /* names of the checks answered "unknown" */
	const char
		/* name of the first essential check answered "no", or NULL */
		*failed;
	const char *failed_fix;
	size_t heap_count;
	size_t unread_count; /* number of heaps that memstate cannot read */
	/* titles of the allocators whose heaps memstate cannot read */
	struct strbuf unread;
};

/* Add the finding of a check to the summary. */
void doctor_answers_add(struct doctor_answers *answers, const struct check *check,
			const struct finding *finding);
/* Add a heap of the process to the summary. */
void doctor_answers_add_heap(struct doctor_answers *answers, const struct heap *heap);
void doctor_answers_release(struct doctor_answers *answers);

/*
 * Append the conclusion: whether memory can be measured, which checks found a limitation
 * or no answer, and which heaps cannot be read. Suggest the command that shows the memory
 * of the process or, if process is NULL and all processes can be read, of all processes.
 */
void doctor_conclude(struct conclusion *c, const struct doctor_answers *answers,
		     const struct process *process, const struct next_place *place);

#endif
