/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

/* The columns of the table of tasks. */
enum task_column {
	TASK_OTHER,
	TASK_UID,
	TASK_TGID,
	TASK_TOTAL_VM,
	TASK_RSS,
	TASK_ANON,
	TASK_FILE,
	TASK_SHMEM,
	TASK_PAGETABLES, /* size of the page tables in bytes */
	TASK_NR_PTES,	 /* number of page tables */
	TASK_SWAP,
	TASK_SCORE_ADJ,
};

static const struct {
	const char *heading;
	enum task_column column;
} task_headings[] = {
	{ "uid", TASK_UID },
	{ "tgid", TASK_TGID },
	{ "total_vm", TASK_TOTAL_VM },
	{ "rss", TASK_RSS },
	{ "rss_anon", TASK_ANON },
	{ "rss_file", TASK_FILE },
	{ "rss_shmem", TASK_SHMEM },
	{ "pgtables_bytes", TASK_PAGETABLES },
	{ "nr_ptes", TASK_NR_PTES },
	{ "swapents", TASK_SWAP },
	{ "oom_score_adj", TASK_SCORE_ADJ },
};

static enum task_column find_column(const char *heading)
{
	for (size_t i = 0; i < sizeof(task_headings) / sizeof(task_headings[0]); i++)
		if (strcmp(task_headings[i].heading, heading) == 0)
			return task_headings[i].column;
	return TASK_OTHER;
}

/*
 * Parse the headings "[ pid ] uid tgid total_vm rss … oom_score_adj name". The last
 * column is the name.
 */
bool kmsg_table_begin(struct kmsg_table *table, char *line)
{
	char *rest = strchr(line, ']'), *word;

	if (line[0] != '[' || !rest || strspn(line + 1, " ") + 4 > strlen(line) ||
	    strncmp(line + 1 + strspn(line + 1, " "), "pid", 3) != 0)
		return false;
	rest++;
	table->column_count = 0;
	while ((word = strsep(&rest, " ")) && table->column_count < KMSG_COLUMNS_MAX)
		if (word[0] != '\0')
			table->columns[table->column_count++] =
				(uint8_t)find_column(word);
	if (table->column_count > 0)
		table->column_count--;
	return true;
}

static uint64_t pages(const struct kmsg_table *table, uint64_t count)
{
	return count > UINT64_MAX / table->page_bytes ? BYTES_UNKNOWN
						      : count * table->page_bytes;
}

static void set_column(const struct kmsg_table *table, enum task_column column,
		       int64_t value, struct oom_task *task)
{
	uint64_t number = value < 0 ? 0 : (uint64_t)value;

	switch (column) {
	case TASK_UID: task->uid = number; break;
	case TASK_TOTAL_VM: task->total_vm_bytes = pages(table, number); break;
	case TASK_RSS: task->rss_bytes = pages(table, number); break;
	case TASK_ANON: task->anon_bytes = pages(table, number); break;
	case TASK_FILE: task->file_bytes = pages(table, number); break;
	case TASK_SHMEM: task->shmem_bytes = pages(table, number); break;
	case TASK_PAGETABLES: task->pagetables_bytes = number; break;
	case TASK_NR_PTES: task->pagetables_bytes = pages(table, number); break;
	case TASK_SWAP: task->swap_bytes = pages(table, number); break;
	case TASK_SCORE_ADJ: task->score_adj = value; break;
	case TASK_OTHER:
	case TASK_TGID: break;
	}
}

void kmsg_task_clear(struct oom_task *task)
{
	*task = (struct oom_task){ .uid = COUNT_UNKNOWN,
				   .total_vm_bytes = BYTES_UNKNOWN,
				   .rss_bytes = BYTES_UNKNOWN,
				   .anon_bytes = BYTES_UNKNOWN,
				   .file_bytes = BYTES_UNKNOWN,
				   .shmem_bytes = BYTES_UNKNOWN,
				   .pagetables_bytes = BYTES_UNKNOWN,
				   .swap_bytes = BYTES_UNKNOWN };
}

/*
 * Parse a row such as "[ 1812] 0 1812 12172 … 0 oom_target". The name may contain spaces.
 */
bool kmsg_table_read(const struct kmsg_table *table, const char *line,
		     struct oom_task *ret)
{
	struct oom_task task;
	int length = 0, pid;

	/* sscanf() sets `length` only if it finds the closing bracket */
	if (table->column_count == 0 || sscanf(line, "[ %d ]%n", &pid, &length) != 1 ||
	    length == 0 || pid <= 0)
		return false;
	kmsg_task_clear(&task);
	task.pid = pid;
	line += length;
	for (size_t i = 0; i < table->column_count; i++) {
		long long value;

		if (sscanf(line, " %lld%n", &value, &length) != 1)
			return false;
		set_column(table, (enum task_column)table->columns[i], value, &task);
		line += length;
	}
	text_copy(task.name, sizeof(task.name), line + strspn(line, " "));
	*ret = task;
	return true;
}

static void rescale(uint64_t *bytes, uint64_t from, uint64_t to)
{
	if (bytes_known(*bytes))
		*bytes = *bytes / from > UINT64_MAX / to ? BYTES_UNKNOWN
							 : *bytes / from * to;
}

void kmsg_table_rescale(const struct kmsg_table *table, uint64_t page_bytes,
			struct oom_kill *kill)
{
	bool has_ptes = false;

	if (page_bytes == table->page_bytes)
		return;
	for (size_t i = 0; i < table->column_count; i++)
		has_ptes |= table->columns[i] == TASK_NR_PTES;
	for (size_t i = 0; i < kill->task_count; i++) {
		struct oom_task *task = &kill->tasks[i];

		rescale(&task->total_vm_bytes, table->page_bytes, page_bytes);
		rescale(&task->rss_bytes, table->page_bytes, page_bytes);
		rescale(&task->anon_bytes, table->page_bytes, page_bytes);
		rescale(&task->file_bytes, table->page_bytes, page_bytes);
		rescale(&task->shmem_bytes, table->page_bytes, page_bytes);
		rescale(&task->swap_bytes, table->page_bytes, page_bytes);
		if (has_ptes)
			rescale(&task->pagetables_bytes, table->page_bytes, page_bytes);
	}
}
