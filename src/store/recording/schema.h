/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema - the tables of a recording. The writer creates these tables, and memstate reads
 * or extends a file only if it has these tables and no others.
 *
 * Recordings are not trusted. SQLite must not run code from the file, so a file with a
 * view, a trigger, an index, a generated column or any other table counts as damaged. The
 * type of each value is checked in each row, because SQLite stores values of any type in
 * any column.
 */
#ifndef MS_STORE_RECORDING_SCHEMA_H
#define MS_STORE_RECORDING_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "store/recording/file.h"
#include "store/recording/sql.h"

/*
 * Upper bound on the numbers of samples and of sessions. It is far above the numbers in
 * real recordings, and far below the largest integer.
 */
#define RECORDING_SAMPLE_MAX (INT64_C(1) << 53)

/*
 * The tables other than fact tables. Statements that read such a table select all
 * columns, in the order of recording_schema_table_sql().
 */
enum recording_table {
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_NAME,
	TABLE_CGROUP,
	TABLE_EVENT,
	TABLE_NOTE, /* recordings of earlier versions lack this table */
	TABLE_COUNT_
};

/* Return the SQL text that creates all tables. The caller frees the string. */
char *recording_schema_sql(void);

/* Tables that recordings of earlier versions of memstate may lack. */
struct recording_tables {
	bool has_notes;	     /* true if the recording has the table TABLE_NOTE */
	bool has_heap_parts; /* true if the recording has the table FACT_HEAP_PART */
};

/*
 * Check the schema of a file. Return 0 if the file has exactly the tables of a
 * recording, otherwise -EBADMSG or another -errno.
 */
int recording_schema_check(sqlite3 *db, struct recording_tables *ret);

/*
 * Return the SQL text that adds the missing tables to a file of an earlier version of
 * memstate and sets its version. The caller frees the string.
 */
char *recording_schema_upgrade_sql(const struct recording_tables *found);

/*
 * Check the type and range of each value in a row of a table. The columns of the table
 * begin at first_column of the statement's result. Return 0 or -EBADMSG.
 */
int recording_schema_check_row(sqlite3_stmt *statement, int first_column,
			       enum recording_table table);

/*
 * Read `count` integers from consecutive columns. Return 0, or -EBADMSG if a column does
 * not contain an integer.
 */
int recording_schema_read_numbers(sqlite3_stmt *statement, int first_column, size_t count,
				  int64_t *ret);

/*
 * A limit on SQLite's work for one request. Without a limit, a damaged index could make a
 * search run forever.
 */
struct recording_guard {
	/*
	 * number of steps left in the current request; a step is 1000 instructions of
	 * SQLite's virtual machine
	 */
	uint64_t steps_left;
	uint64_t bytes; /* size of the recording in bytes */
};

/*
 * Restrict the operations that SQLite performs on the file. `guard` must exist until the
 * connection is closed.
 */
void recording_guard_open(sqlite3 *db, struct recording_guard *guard);

/*
 * Begin a request: reset the limit on SQLite's work. The limit grows with the size of the
 * file.
 */
void recording_guard_reset(struct recording_guard *guard);

/*
 * Begin a request on a file that may have grown: read the size of the file again, and
 * reset the limit on SQLite's work.
 */
void recording_guard_resize(struct recording_guard *guard,
			    const struct recording_file *file);

#endif
