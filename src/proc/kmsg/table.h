/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - parse the task table of a kernel OOM report. Columns are identified by their
 * headings, because kernel versions have different columns.
 */
#ifndef MS_PROC_KMSG_TABLE_H
#define MS_PROC_KMSG_TABLE_H

#include "model/oom_kill.h"

#define KMSG_COLUMNS_MAX 24

struct kmsg_table {
	uint8_t columns[KMSG_COLUMNS_MAX];
	/*
	 * number of columns before the name, which is the last column; 0 if
	 * no table has begun
	 */
	size_t column_count;
	uint64_t page_bytes; /* page size used to convert page counts to bytes */
};

/*
 * Parse the line of column headings; the line is modified. Return false if the line is
 * not the headings of a task table.
 */
bool kmsg_table_begin(struct kmsg_table *table, char *line);

/* Parse a row of the task table. Return false if the line is not such a row. */
bool kmsg_table_read(const struct kmsg_table *table, const char *line,
		     struct oom_task *ret);

/*
 * Correct the amounts of all tasks in *kill for the actual page size. The amounts were
 * computed with table->page_bytes.
 */
void kmsg_table_rescale(const struct kmsg_table *table, uint64_t page_bytes,
			struct oom_kill *kill);

/* Set all members of *task to unknown. */
void kmsg_task_clear(struct oom_task *task);

#endif
