/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema - the tables of a recording. The writer creates these tables, and memstate reads
 * or extends a file only if it has these tables and no others.
 *
 * Recordings are not trusted. SQLite must not run code from the file, so a file with a
 * view, a trigger, an index, a generated column or any other table counts as damaged. The
 * type of each value is checked again in each row, because SQLite stores values of any
 * type in any column.
 */
#ifndef MS_STORE_RECORDING_SCHEMA_H
#define MS_STORE_RECORDING_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "store/recording/file.h"
#include "store/recording/sql.h"

/*
 * Upper bound on the numbers of samples and sessions: far above the numbers in real
 * recordings, and far below an overflow.
 */
#define RECORDING_SAMPLE_MAX (INT64_C(1) << 53)

/*
 * The tables that are not fact tables. Statements that read such a table select all of
 * its columns, in the order of recording_schema_table_sql().
 */
enum recording_table {
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_NAME,
	TABLE_CGROUP,
	TABLE_EVENT,
	TABLE_NOTE, /* missing from recordings by earlier versions of memstate */
	TABLE_COUNT_
};

/* Return the SQL text that creates all tables. The caller frees it. */
char *recording_schema_sql(void);

/* The tables that recordings by earlier versions of memstate may lack. */
struct recording_tables {
	bool has_notes;	     /* TABLE_NOTE */
	bool has_heap_parts; /* the table for FACT_HEAP_PART */
};

/*
 * Check the schema of a file. Returns 0 if the file has exactly the tables of a
 * recording, otherwise -EBADMSG or another -errno.
 */
int recording_schema_check(sqlite3 *db, struct recording_tables *ret);

/*
 * Return the SQL text that adds the missing tables to a file that an earlier version of
 * memstate wrote, and sets its version. The caller frees it.
 */
char *recording_schema_upgrade_sql(const struct recording_tables *found);

/*
 * Check the type and range of each value in a row of a table. In the statement's result,
 * the columns of the table begin at first_column. Returns 0 or -EBADMSG.
 */
int recording_schema_check_row(sqlite3_stmt *statement, int first_column,
			       enum recording_table table);

/*
 * Read `count` integers from consecutive columns. Returns 0, or -EBADMSG if a column does
 * not contain an integer.
 */
int recording_schema_read_numbers(sqlite3_stmt *statement, int first_column, size_t count,
				  int64_t *ret);

/*
 * A limit on the work that SQLite may do for one request. Without a limit, a damaged
 * index could make a search run forever.
 */
struct recording_guard {
	/*
	 * Number of steps left in the current request. A step is 1000 instructions of
	 * SQLite's virtual machine.
	 */
	uint64_t steps_left;
	uint64_t bytes; /* size of the recording in bytes */
};

/*
 * Restrict the operations that SQLite performs on the file. The guard must exist for as
 * long as the connection.
 */
void recording_guard_open(sqlite3 *db, struct recording_guard *guard);

/*
 * Begin a request: reset the limit on SQLite's work, in proportion to the size of
 * the file.
 */
void recording_guard_reset(struct recording_guard *guard);

/*
 * Begin a request after the file may have grown. The function reads the size of the
 * file again.
 */
void recording_guard_resize(struct recording_guard *guard,
			    const struct recording_file *file);

#endif
