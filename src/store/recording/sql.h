/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql - the fact tables of a recording, and access to SQLite. SQLite is loaded when the
 * first recording is opened, because most runs do not need it.
 *
 * A row of a fact table records the values that a key has from the row's sample until the
 * key's next row. A row without values records that the key no longer exists.
 * memstate-recording(5) describes the tables for users of the sqlite3 shell.
 */
#ifndef MS_STORE_RECORDING_SQL_H
#define MS_STORE_RECORDING_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define RECORDING_APPLICATION_ID 0x6d737465 /* "mste" in ASCII */
/*
 * Version 2 added the table of FACT_HEAP_PART. Files of version 1 can be read, and are
 * converted when memstate appends to them.
 */
#define RECORDING_VERSION 2

/* An unknown value, which is NULL in the database. */
#define FACT_UNKNOWN INT64_MIN

#define FACT_KEYS_MAX 2
#define FACT_VALUES_MAX 32

/*
 * The fact tables: tables of recorded values. The last part of each table's key is the
 * sample number, and all values are integers.
 */
enum fact_table {
	/* state of a process: its parent, number of threads, … */
	FACT_STATE,
	FACT_USAGE,	 /* memory figures of a process that change often */
	FACT_USAGE_MORE, /* memory figures of a process that change rarely */
	FACT_MAPPING,	 /* mappings, keyed by process and start address */
	FACT_HEAP,	 /* results of heap reads, keyed by process */
	/* figures of each heap if a process has several, keyed by process, allocator */
	FACT_HEAP_PART,
	FACT_GROUP,	 /* usage, limits and events of a cgroup, keyed by level */
	FACT_GROUP_STAT, /* fields of memory.stat of a cgroup, keyed by level */
	FACT_GROUP_MORE, /* values of a cgroup as a whole, such as memory pressure */
	FACT_TABLE_COUNT_
};

struct fact_table_info {
	const char *name;
	const char *keys[FACT_KEYS_MAX];
	size_t key_count;
	const char *values[FACT_VALUES_MAX];
	size_t value_count;
};
extern const struct fact_table_info fact_tables[FACT_TABLE_COUNT_];

/* The functions of SQLite that memstate calls, without the prefix "sqlite3_". */
/* clang-format off */
#define SQLITE_FUNCTIONS(X) \
	X(open_v2) X(close) X(exec) X(errmsg) X(extended_errcode) \
	X(system_errno) X(busy_timeout) X(prepare_v2) X(step) X(reset) \
	X(finalize) X(bind_int64) X(bind_null) X(bind_text) X(bind_blob) \
	X(column_int64) X(column_type) X(column_text) X(column_blob) \
	X(column_bytes) X(last_insert_rowid) X(wal_checkpoint_v2) \
	X(db_release_memory) X(limit) X(db_config) X(progress_handler) \
	X(file_control)
/* clang-format on */

#define SQLITE_POINTER(name) __typeof__(sqlite3_##name) *name;
struct sqlite_functions {
	SQLITE_FUNCTIONS(SQLITE_POINTER)
};
extern struct sqlite_functions sqlite;

/*
 * Load the SQLite library. Return false if SQLite is not installed. May be called
 * repeatedly, from any thread.
 */
bool recording_sql_load(void);

/*
 * Return the statement that inserts a row into the table: "INSERT OR REPLACE INTO
 * usage(process,sample,…) VALUES(?,…)". The caller frees the string.
 */
char *recording_sql_insert(enum fact_table table);

/*
 * Return the error of SQLite's last call as -errno: -ENOSPC, -EIO, -EACCES, -EBADMSG, …
 */
int recording_sql_errno(sqlite3 *db);

/*
 * Open a database read-only, without a write-ahead log and without locks. No process may
 * write to the database while it is open. Return 0 or -errno.
 */
int recording_sql_open_immutable(const char *path, sqlite3 **ret);

/* Set the string that recording_damage() returns. Return -EBADMSG. */
__attribute__((format(printf, 1, 2))) int recording_damaged(const char *format, ...);

/*
 * Check the header of an open file before SQLite reads the file. Return 0 if the file is
 * empty or a recording, -EEXIST if it has another format, -ENOTSUP if it is a recording
 * of a newer version, or -errno.
 */
int recording_sql_check_head(int fd);

/* Execute SQL statements that return no rows. Return 0 or -errno. */
int recording_sql_execute(sqlite3 *db, const char *sql);

/*
 * Store the first column of a query's first row in *ret, or 0 if there is no
 * row. Return 0 or -errno.
 */
int recording_sql_number(sqlite3 *db, const char *sql, int64_t *ret);

#endif
