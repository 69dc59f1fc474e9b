/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - parse the table of tasks in a kernel OOM report. The parser identifies columns
 * by their headings, because the columns depend on the kernel version.
 */
#ifndef MS_PROC_KMSG_TABLE_H
#define MS_PROC_KMSG_TABLE_H

#include "model/oom_kill.h"

#define KMSG_COLUMNS_MAX 24

struct kmsg_table {
	uint8_t columns[KMSG_COLUMNS_MAX];
	/*
	 * number of columns before the name, which is the last column; 0 outside a table
	 */
	size_t column_count;
	uint64_t page_bytes; /* page size with which page counts are converted to bytes */
};

/*
 * Parse and modify a line of column headings. Return false if the line does not contain
 * the headings of a table of tasks.
 */
bool kmsg_table_begin(struct kmsg_table *table, char *line);

/* Parse a row of the table. Return false if the line is not a row. */
bool kmsg_table_read(const struct kmsg_table *table, const char *line,
		     struct oom_task *ret);

/*
 * Recompute the amounts of all tasks in *kill with the actual page size, page_bytes. They
 * were computed with table->page_bytes.
 */
void kmsg_table_rescale(const struct kmsg_table *table, uint64_t page_bytes,
			struct oom_kill *kill);

/* Set all members of *task to unknown. */
void kmsg_task_clear(struct oom_task *task);

#endif
