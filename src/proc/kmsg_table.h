/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_table - the table of tasks in a report of the kernel's: columns are told by their
 * headings, of which every version has others.
 */
#ifndef MS_PROC_KMSG_TABLE_H
#define MS_PROC_KMSG_TABLE_H

#include "model/oom_kill.h"

#define KMSG_COLUMNS_MAX 24

struct kmsg_table {
	uint8_t columns[KMSG_COLUMNS_MAX];
	size_t column_count; /* without the name, which is the last; 0: there is no table */
	uint64_t page_bytes; /* that its amounts are in */
};

/* The line of headings, which is cut up. False: it is none. */
bool kmsg_table_begin(struct kmsg_table *table, char *line);

/* A line of the table. False: it is none. */
bool kmsg_table_read(const struct kmsg_table *table, const char *line, struct oom_task *ret);

/* The tasks were read with table->page_bytes, but a page had this size. */
void kmsg_table_rescale(const struct kmsg_table *table, uint64_t page_bytes, struct oom_kill *kill);

/* All unknown. */
void kmsg_task_clear(struct oom_task *task);

#endif
