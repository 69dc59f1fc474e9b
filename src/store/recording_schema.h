/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_schema - the tables of a recording: what the writer creates and what a file
 * must have before memstate reads or extends it.
 *
 * A recording may come from anybody. SQLite runs no code of the file: a view, a trigger, an
 * index, a generated column or any other table makes the file damaged. The columns' types
 * are checked again in each row, as SQLite stores any type in any column.
 */
#ifndef MS_STORE_RECORDING_SCHEMA_H
#define MS_STORE_RECORDING_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "store/recording_file.h"
#include "store/recording_sql.h"

/* Sample numbers and sessions are at most this: far beyond any real one, far from overflow. */
#define RECORDING_SAMPLE_MAX (INT64_C(1) << 53)

/* Tables other than the fact tables. Statements select all their columns, in this order. */
enum recording_table {
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_NAME,
	TABLE_CGROUP,
	TABLE_EVENT,
	TABLE_NOTE, /* files of earlier versions of memstate lack it */
	TABLE_COUNT_
};

/* The SQL text that creates all tables. The caller frees it. */
char *recording_schema_sql(void);

/* The SQL text that creates one of them. The caller frees it. */
char *recording_schema_table_sql(enum recording_table table);

/* Return 0 if the file has exactly these tables, else -EBADMSG or another -errno. */
int recording_schema_check(sqlite3 *db, bool *ret_has_notes);

/*
 * Check the type and the range of each value of a table's row, whose columns begin at
 * first_column of the statement. Returns 0 or -EBADMSG.
 */
int recording_schema_check_row(sqlite3_stmt *statement, int first_column,
			       enum recording_table table);

/* Read an integer, FACT_UNKNOWN for NULL. Returns 0, or -EBADMSG for another type. */
int recording_schema_read_number(sqlite3_stmt *statement, int column, int64_t *ret);

/* Read count integers likewise. */
int recording_schema_read_numbers(sqlite3_stmt *statement, int first_column, size_t count,
				  int64_t *ret);

/*
 * An upper bound of the work that SQLite does for one request. A damaged index may be
 * a maze in which a search never ends.
 */
struct recording_guard {
	uint64_t steps_left; /* of 1000 instructions of SQLite's virtual machine */
	uint64_t bytes;	     /* the file's size */
};

/* Restrict what SQLite does with the file. The guard must outlive the connection. */
void recording_guard_open(sqlite3 *db, struct recording_guard *guard);

/* A request begins: allow work in proportion to the size of the file. */
void recording_guard_reset(struct recording_guard *guard);

/* The same after the file may have grown. */
void recording_guard_resize(struct recording_guard *guard, const struct recording_file *file);

#endif
