/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/doctor/conclusion.h"

#include <string.h>

/*
 * Name of the check that determines whether a report on all processes would be complete.
 */
#define ALL_PROCESSES "all_processes"

/* Append a name to a comma-separated list. */
static void add_name(struct strbuf *list, const char *name)
{
	strbuf_addf(list, "%s%s", list->length > 0 ? ", " : "", name);
}

void doctor_answers_add(struct doctor_answers *answers, const struct check *check,
			const struct finding *finding)
{
	answers->check_count++;
	answers->yes_count += finding->answer == ANSWER_YES;
	if (finding->answer == ANSWER_UNKNOWN)
		add_name(&answers->unknown, check->name);
	if (finding->answer != ANSWER_NO && finding->answer != ANSWER_PARTLY)
		return;
	answers->limited_count++;
	answers->fix_count += finding->fix != NULL;
	add_name(&answers->limited, check->name);
	if (check->is_needed && finding->answer == ANSWER_NO && !answers->failed) {
		answers->failed = check->name;
		answers->failed_fix = finding->fix;
	}
}

void doctor_answers_add_heap(struct doctor_answers *answers, const struct heap *heap)
{
	answers->heap_count++;
	if (heap->quality != QUALITY_UNKNOWN)
		return;
	add_name(&answers->unread, allocator_titles[heap->allocator]);
	answers->unread_count++;
}

void doctor_answers_release(struct doctor_answers *answers)
{
	strbuf_release(&answers->unread);
	strbuf_release(&answers->limited);
	strbuf_release(&answers->unknown);
}

static void add_limits(struct conclusion *c, const struct doctor_answers *answers)
{
	conclusion_add(c, "Memory can be measured. %zu of %zu checks found a limit: %s.",
		       answers->limited_count, answers->check_count,
		       answers->limited.text);
	if (answers->fix_count > 0)
		conclusion_add(c, "An arrow marks what to do.");
}

void doctor_conclude(struct conclusion *c, const struct doctor_answers *answers,
		     const struct process *process, const struct next_place *place)
{
	const char *no_memory = process ? process_no_memory_text(process) : NULL;

	if (no_memory) {
		conclusion_add(c, "A %s.", no_memory);
		return;
	}
	if (answers->failed) {
		conclusion_add(c, "Memory cannot be read: the %s check failed%s%s.",
			       answers->failed, answers->failed_fix ? "; " : "",
			       answers->failed_fix ? answers->failed_fix : "");
		return;
	}
	if (answers->limited_count > 0)
		add_limits(c, answers);
	else if (answers->yes_count == answers->check_count)
		conclusion_add(c, "Everything works: all %zu checks succeeded.",
			       answers->check_count);
	else
		conclusion_add(
			c,
			"Nothing is missing: %zu of %zu checks succeeded; unknown: "
			"%s.",
			answers->yes_count, answers->check_count,
			strbuf_text(&answers->unknown));
	if (answers->unread_count > 0 && answers->heap_count == 1)
		conclusion_add(c, "memstate cannot read its heap: %s.",
			       answers->unread.text);
	else if (answers->unread_count > 0)
		conclusion_add(c, "memstate cannot read %zu of %zu heaps: %s.",
			       answers->unread_count, answers->heap_count,
			       answers->unread.text);
	if (process)
		conclusion_set_next(c, "memstate%s -p %d", place->options, process->pid);
	else if (!strstr(strbuf_text(&answers->limited), ALL_PROCESSES))
		conclusion_set_next(c, "memstate%s", place->options);
}
