/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql - the fact tables of a recording, and access to SQLite. SQLite is loaded
 * when the first recording is opened, because most runs do not need it.
 *
 * A row of a fact table gives the values of its key from its sample until the next row of
 * the same key. A row without values means that the key no longer exists.
 * doc/RECORDING.md describes the tables for users of the sqlite3 shell.
 */
#ifndef MS_STORE_RECORDING_SQL_H
#define MS_STORE_RECORDING_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define RECORDING_APPLICATION_ID 0x6d737465 /* "mste" in ASCII */
#define RECORDING_VERSION 1

/* Unknown value; NULL in SQL. */
#define FACT_UNKNOWN INT64_MIN

#define FACT_KEYS_MAX 2
#define FACT_VALUES_MAX 32

/* Tables whose key is (…, sample) and whose values are integers. */
enum fact_table {
	FACT_STATE,	 /* of a process: parent, threads, … */
	FACT_USAGE,	 /* of a process: values that change often */
	FACT_USAGE_MORE, /* of a process: values that change rarely */
	FACT_MAPPING,	 /* by process and start address */
	FACT_HEAP,	 /* of a process: results of reading its heap */
	FACT_GROUP,	 /* of a cgroup: by cgroup and level */
	FACT_GROUP_STAT, /* memory.stat: by cgroup and level */
	FACT_GROUP_MORE, /* of a cgroup: values that belong to no level */
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

/* SQLite's functions, under SQLite's names without the prefix. */
struct sqlite_functions {
	__typeof__(sqlite3_open_v2) *open_v2;
	__typeof__(sqlite3_close) *close;
	__typeof__(sqlite3_exec) *exec;
	__typeof__(sqlite3_errmsg) *errmsg;
	__typeof__(sqlite3_extended_errcode) *extended_errcode;
	__typeof__(sqlite3_system_errno) *system_errno;
	__typeof__(sqlite3_busy_timeout) *busy_timeout;
	__typeof__(sqlite3_prepare_v2) *prepare_v2;
	__typeof__(sqlite3_step) *step;
	__typeof__(sqlite3_reset) *reset;
	__typeof__(sqlite3_finalize) *finalize;
	__typeof__(sqlite3_bind_int64) *bind_int64;
	__typeof__(sqlite3_bind_null) *bind_null;
	__typeof__(sqlite3_bind_text) *bind_text;
	__typeof__(sqlite3_bind_blob) *bind_blob;
	__typeof__(sqlite3_column_int64) *column_int64;
	__typeof__(sqlite3_column_type) *column_type;
	__typeof__(sqlite3_column_text) *column_text;
	__typeof__(sqlite3_column_blob) *column_blob;
	__typeof__(sqlite3_column_bytes) *column_bytes;
	__typeof__(sqlite3_last_insert_rowid) *last_insert_rowid;
	__typeof__(sqlite3_wal_checkpoint_v2) *wal_checkpoint_v2;
	__typeof__(sqlite3_db_release_memory) *db_release_memory;
	__typeof__(sqlite3_limit) *limit;
	__typeof__(sqlite3_db_config) *db_config;
	__typeof__(sqlite3_progress_handler) *progress_handler;
	__typeof__(sqlite3_file_control) *file_control;
};
extern struct sqlite_functions sqlite;

/*
 * Load SQLite. Return false if it is not installed. May be called
 * from any thread, repeatedly.
 */
bool recording_sql_load(void);

/*
 * Return "INSERT OR REPLACE INTO usage(process,sample,…) VALUES(?,…)" for the
 * table. The caller frees it.
 */
char *recording_sql_insert(enum fact_table table);

/*
 * Return the error of SQLite's last call as -errno: -ENOSPC, -EIO, -EACCES, -EBADMSG, …
 */
int recording_sql_errno(sqlite3 *db);

/*
 * Open a database read-only, without a log and without locks. Nobody may write to it
 * while it is open. Returns 0, or -errno as recording_sql_errno().
 */
int recording_sql_open_immutable(const char *path, sqlite3 **ret);

/* Store the reason for recording_damage() and return -EBADMSG. */
__attribute__((format(printf, 1, 2))) int recording_damaged(const char *format, ...);

/*
 * Check the head of an open file before SQLite reads it. Returns 0 if the file
 * is empty or a recording, -EEXIST if it is something else, -ENOTSUP if it has
 * a newer version, or -errno.
 */
int recording_sql_check_head(int fd);

/*
 * Run SQL statements that return no rows. Returns 0, or -errno as recording_sql_errno().
 */
int recording_sql_execute(sqlite3 *db, const char *sql);

/*
 * Store the first number of the first row, or 0 if there is no row. Returns 0 or -errno.
 */
int recording_sql_number(sqlite3 *db, const char *sql, int64_t *ret);

#endif
