/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema - the tables of a recording: those that the writer creates and a file
 * must have before memstate reads or extends it.
 *
 * Recordings are not trusted. SQLite must not run code from the file, so a view,
 * a trigger, an index, a generated column or any other table makes the file
 * damaged. The type of each value is checked again in each row, because SQLite
 * stores any type in any column.
 */
#ifndef MS_STORE_RECORDING_SCHEMA_H
#define MS_STORE_RECORDING_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "store/recording/file.h"
#include "store/recording/sql.h"

/* Upper bound of sample and session numbers: far above real ones, far from overflow. */
#define RECORDING_SAMPLE_MAX (INT64_C(1) << 53)

/*
 * Tables other than the fact tables. Statements select all their columns, in this order.
 */
enum recording_table {
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_NAME,
	TABLE_CGROUP,
	TABLE_EVENT,
	TABLE_NOTE, /* missing in files of earlier versions of memstate */
	TABLE_COUNT_
};

/* Return the SQL text that creates all tables. The caller frees it. */
char *recording_schema_sql(void);

/* Return the SQL text that creates one table. The caller frees it. */
char *recording_schema_table_sql(enum recording_table table);

/*
 * Check the schema. Returns 0 if the file has exactly these tables, else -EBADMSG or
 * another -errno. TABLE_NOTE may be missing; *ret_has_notes is false then.
 */
int recording_schema_check(sqlite3 *db, bool *ret_has_notes);

/*
 * Check the type and range of each value in a row of a table, whose columns begin at
 * first_column of the statement. Returns 0 or -EBADMSG.
 */
int recording_schema_check_row(sqlite3_stmt *statement, int first_column,
			       enum recording_table table);

/* Read an integer, or FACT_UNKNOWN for NULL. Returns 0, or -EBADMSG for another type. */
int recording_schema_read_number(sqlite3_stmt *statement, int column, int64_t *ret);

/* Read count integers in the same way. */
int recording_schema_read_numbers(sqlite3_stmt *statement, int first_column, size_t count,
				  int64_t *ret);

/*
 * An upper bound of SQLite's work for one request. A damaged index may send a
 * search into an endless loop.
 */
struct recording_guard {
	uint64_t steps_left; /* steps of 1000 instructions of SQLite's virtual machine */
	uint64_t bytes;	     /* size of the file */
};

/* Restrict what SQLite does with the file. The guard must outlive the connection. */
void recording_guard_open(sqlite3 *db, struct recording_guard *guard);

/* Begin a request: allow work in proportion to the size of the file. */
void recording_guard_reset(struct recording_guard *guard);

/* Begin a request after the file may have grown. */
void recording_guard_resize(struct recording_guard *guard,
			    const struct recording_file *file);

#endif
