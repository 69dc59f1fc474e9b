/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/schema.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "store/recording/recording.h"

#define COLUMNS_MAX 13

/*
 * Upper bounds on times: 31 December 9999, and the longest duration in µs that can be
 * converted to ns.
 */
#define UNIX_MS_MAX INT64_C(253402300799999)
#define DURATION_US_MAX (INT64_MAX / 1000)

/*
 * Upper bounds on the lengths of strings, in bytes. A command line has at most 6 MiB; a
 * kernel report is far shorter.
 */
#define VALUE_BYTES_MAX (16 << 20)
#define NAME_BYTES_MAX 65536

enum kind {
	KIND_NUMBER,
	KIND_TEXT
};

struct column {
	const char *name, *declaration;
	enum kind kind;
	bool may_be_null;
	/* minimum and maximum of a number, or of a string's length in bytes */
	int64_t min, max;
};

struct table {
	const char *name;
	struct column columns[COLUMNS_MAX];
	size_t column_count;
	const char *end; /* SQL text that follows the list of columns, or NULL */
};

#define NUMBER_KEY(name, max)                                           \
	{                                                               \
		name, "INTEGER PRIMARY KEY", KIND_NUMBER, false, 1, max \
	}
#define NUMBER(name, min, max)                                         \
	{                                                              \
		name, "INTEGER NOT NULL", KIND_NUMBER, false, min, max \
	}
#define TEXT(name, max)                                         \
	{                                                       \
		name, "BLOB NOT NULL", KIND_TEXT, false, 0, max \
	}
#define TEXT_OR_NULL(name, max)                       \
	{                                             \
		name, "BLOB", KIND_TEXT, true, 0, max \
	}

static const struct table tables[TABLE_COUNT_] = {
	[TABLE_SAMPLE] = { "sample",
			   { NUMBER_KEY("sample", RECORDING_SAMPLE_MAX),
			     NUMBER("session", 1, RECORDING_SAMPLE_MAX),
			     NUMBER("unix_ms", 0, UNIX_MS_MAX),
			     NUMBER("elapsed_us", 0, DURATION_US_MAX),
			     NUMBER("cost_us", 0, DURATION_US_MAX) },
			   5,
			   NULL },
	[TABLE_PROCESS] = { "process",
			    { NUMBER_KEY("process", INT64_MAX),
			      NUMBER("session", 1, RECORDING_SAMPLE_MAX),
			      NUMBER("pid", 1, INT_MAX),
			      NUMBER("start_ticks", 0, INT64_MAX),
			      TEXT("comm", NAME_BYTES_MAX),
			      TEXT_OR_NULL("command", VALUE_BYTES_MAX) },
			    6,
			    NULL },
	[TABLE_NAME] = { "name",
			 { NUMBER_KEY("name", INT64_MAX),
			   { "text", "BLOB NOT NULL UNIQUE", KIND_TEXT, false, 0,
			     NAME_BYTES_MAX } },
			 2,
			 NULL },
	/* names of a cgroup, in the order of enum cgroup_name */
	[TABLE_CGROUP] = { "cgroup",
			   { NUMBER_KEY("cgroup", INT64_MAX),
			     NUMBER("session", 1, RECORDING_SAMPLE_MAX),
			     NUMBER("version", 1, 2), NUMBER("is_cut", 0, 1),
			     TEXT("paths", VALUE_BYTES_MAX),
			     TEXT_OR_NULL("runtime", NAME_BYTES_MAX),
			     TEXT_OR_NULL("container_id", NAME_BYTES_MAX),
			     TEXT_OR_NULL("container", NAME_BYTES_MAX),
			     TEXT_OR_NULL("pod_uid", NAME_BYTES_MAX),
			     TEXT_OR_NULL("pod", NAME_BYTES_MAX),
			     TEXT_OR_NULL("namespace", NAME_BYTES_MAX),
			     TEXT_OR_NULL("qos", NAME_BYTES_MAX),
			     TEXT_OR_NULL("unit", NAME_BYTES_MAX) },
			   13,
			   NULL },
	[TABLE_EVENT] = { "event",
			  { NUMBER_KEY("event", INT64_MAX),
			    NUMBER("sample", 0, RECORDING_SAMPLE_MAX),
			    NUMBER("unix_ms", 0, UNIX_MS_MAX),
			    { "kind", "TEXT NOT NULL", KIND_TEXT, false, 1,
			      NAME_BYTES_MAX },
			    { "pid", "INTEGER", KIND_NUMBER, true, 1, INT_MAX },
			    TEXT_OR_NULL("text", VALUE_BYTES_MAX) },
			  6,
			  NULL },
	[TABLE_NOTE] = { "note",
			 { NUMBER("process", 1, INT64_MAX),
			   { "kind", "TEXT NOT NULL", KIND_TEXT, false, 1,
			     NAME_BYTES_MAX },
			   TEXT("text", NAME_BYTES_MAX) },
			 3,
			 ", PRIMARY KEY(process, kind, text)) WITHOUT ROWID" },
};

#define ALL_TABLE_COUNT (TABLE_COUNT_ + FACT_TABLE_COUNT_)
#define HEAP_PART_INDEX (TABLE_COUNT_ + FACT_HEAP_PART)

static void add_names(struct strbuf *sql, const char *const *names, size_t count,
		      const char *type)
{
	for (size_t i = 0; i < count; i++)
		strbuf_addf(sql, "%s%s, ", names[i], type);
}

static const char *table_name(size_t index)
{
	return index < TABLE_COUNT_ ? tables[index].name
				    : fact_tables[index - TABLE_COUNT_].name;
}

static void add_fact_table(struct strbuf *sql, const struct fact_table_info *info)
{
	add_names(sql, info->keys, info->key_count, " INTEGER NOT NULL");
	strbuf_add_text(sql, "sample INTEGER NOT NULL, ");
	add_names(sql, info->values, info->value_count, " INTEGER");
	strbuf_add_text(sql, "PRIMARY KEY(");
	add_names(sql, info->keys, info->key_count, "");
	strbuf_add_text(sql, "sample)) WITHOUT ROWID");
}

/*
 * Append the statement that creates a table, such as "CREATE TABLE usage(…)". SQLite
 * stores the statement in the file, and memstate later compares it with the expected
 * statement to check the schema.
 */
static void add_table(struct strbuf *sql, size_t index)
{
	strbuf_addf(sql, "CREATE TABLE %s(", table_name(index));
	if (index >= TABLE_COUNT_) {
		add_fact_table(sql, &fact_tables[index - TABLE_COUNT_]);
		return;
	}
	for (size_t i = 0; i < tables[index].column_count; i++)
		strbuf_addf(sql, "%s%s %s", i > 0 ? ", " : "",
			    tables[index].columns[i].name,
			    tables[index].columns[i].declaration);
	strbuf_add_text(sql, tables[index].end ? tables[index].end : ")");
}

char *recording_schema_sql(void)
{
	struct strbuf sql = STRBUF_INIT;

	strbuf_addf(&sql, "PRAGMA application_id=%d;\nPRAGMA user_version=%d;\n",
		    RECORDING_APPLICATION_ID, RECORDING_VERSION);
	for (size_t i = 0; i < ALL_TABLE_COUNT; i++) {
		add_table(&sql, i);
		strbuf_add_text(&sql, ";\n");
	}
	return strbuf_take(&sql);
}

char *recording_schema_upgrade_sql(const struct recording_tables *found)
{
	struct strbuf sql = STRBUF_INIT;

	strbuf_addf(&sql, "BEGIN IMMEDIATE;\nPRAGMA user_version=%d;\n",
		    RECORDING_VERSION);
	if (!found->has_notes) {
		add_table(&sql, TABLE_NOTE);
		strbuf_add_text(&sql, ";\n");
	}
	if (!found->has_heap_parts) {
		add_table(&sql, HEAP_PART_INDEX);
		strbuf_add_text(&sql, ";\n");
	}
	strbuf_add_text(&sql, "COMMIT;\n");
	return strbuf_take(&sql);
}

/*
 * Return the string in a column, or "" if the column is NULL. The string is valid until
 * the next step of the statement.
 */
static const char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite.column_text(statement, column);

	return text ? text : "";
}

/*
 * Return true if a row of the schema is an index that SQLite created for a UNIQUE
 * constraint. Such an index has no SQL text.
 */
static bool is_own_index(const char *type, const char *name, const char *sql)
{
	return strcmp(type, "index") == 0 &&
	       strcmp(name, "sqlite_autoindex_name_1") == 0 && sql[0] == '\0';
}

/*
 * Check a row of the schema (type, name, tbl_name, sql). If the row is a table, set its
 * bit in *found.
 */
static int check_object(sqlite3_stmt *statement, uint32_t *found)
{
	const char *type = column_text(statement, 0), *name = column_text(statement, 1);
	const char *sql = column_text(statement, 3);

	if (is_own_index(type, name, sql))
		return 0;
	for (size_t i = 0; i < ALL_TABLE_COUNT; i++) {
		_cleanup_strbuf_ struct strbuf expected = STRBUF_INIT;

		if (strcmp(name, table_name(i)) != 0)
			continue;
		add_table(&expected, i);
		if (strcmp(type, "table") != 0)
			return recording_damaged("'%s' is a %s, not a table", name, type);
		if (*found & UINT32_C(1) << i ||
		    strcmp(column_text(statement, 2), name) != 0 ||
		    strcmp(sql, strbuf_text(&expected)) != 0)
			return recording_damaged("table '%s' has unexpected columns",
						 name);
		*found |= UINT32_C(1) << i;
		return 0;
	}
	return recording_damaged("unexpected %s '%s'", type[0] ? type : "object", name);
}

int recording_schema_check(sqlite3 *db, struct recording_tables *ret)
{
	sqlite3_stmt *statement = NULL;
	uint32_t found = 0;
	int error = 0, code;

	if (sqlite.prepare_v2(db, "SELECT type,name,tbl_name,sql FROM sqlite_master", -1,
			      &statement, NULL) != SQLITE_OK)
		return recording_sql_errno(db);
	while ((code = sqlite.step(statement)) == SQLITE_ROW && error == 0)
		error = check_object(statement, &found);
	if (error == 0 && code != SQLITE_DONE)
		error = recording_sql_errno(db);
	sqlite.finalize(statement);
	for (size_t i = 0; i < ALL_TABLE_COUNT && error == 0; i++)
		if (i != TABLE_NOTE && i != HEAP_PART_INDEX &&
		    !(found & UINT32_C(1) << i))
			error = recording_damaged("table '%s' is missing", table_name(i));
	ret->has_notes = found & UINT32_C(1) << TABLE_NOTE;
	ret->has_heap_parts = found & UINT32_C(1) << HEAP_PART_INDEX;
	return error;
}

static int check_value(sqlite3_stmt *statement, int at, const struct table *table,
		       const struct column *column)
{
	int type = sqlite.column_type(statement, at);
	int64_t number;

	if (type == SQLITE_NULL && column->may_be_null)
		return 0;
	if (column->kind == KIND_NUMBER ? type != SQLITE_INTEGER
					: type != SQLITE_TEXT && type != SQLITE_BLOB)
		return recording_damaged("%s.%s has a value of the wrong type",
					 table->name, column->name);
	number = column->kind == KIND_NUMBER ? sqlite.column_int64(statement, at)
					     : sqlite.column_bytes(statement, at);
	if (number < column->min || number > column->max)
		return recording_damaged("%s.%s has a value that is out of range",
					 table->name, column->name);
	return 0;
}

int recording_schema_check_row(sqlite3_stmt *statement, int first_column,
			       enum recording_table table)
{
	const struct table *t = &tables[table];
	int error = 0;

	for (size_t i = 0; i < t->column_count && error == 0; i++)
		error = check_value(statement, first_column + (int)i, t, &t->columns[i]);
	return error;
}

/*
 * Read an integer, or FACT_UNKNOWN if the column is NULL. Return 0, or -EBADMSG if the
 * column has another type.
 */
static int recording_schema_read_number(sqlite3_stmt *statement, int column, int64_t *ret)
{
	int type = sqlite.column_type(statement, column);

	if (type != SQLITE_INTEGER && type != SQLITE_NULL)
		return recording_damaged("a figure has a value of the wrong type");
	*ret = type == SQLITE_NULL ? FACT_UNKNOWN
				   : sqlite.column_int64(statement, column);
	return 0;
}

int recording_schema_read_numbers(sqlite3_stmt *statement, int first_column, size_t count,
				  int64_t *ret)
{
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++)
		error = recording_schema_read_number(statement, first_column + (int)i,
						     &ret[i]);
	return error;
}

#define STEP_INSTRUCTIONS 1000

/*
 * Maximum work per request, in instructions of SQLite's virtual machine: 32 per byte of
 * the file, but at least 10 million so that small files can be read. SQLite needs about 2
 * instructions per byte to read all rows of a table, and about 10 per byte to delete the
 * oldest samples.
 */
#define STEPS_MIN 10000
#define INSTRUCTIONS_PER_BYTE 32

/*
 * SQLite calls this function after every STEP_INSTRUCTIONS instructions. Deduct a step,
 * and return 1 if no steps are left, which ends the statement with SQLITE_INTERRUPT.
 */
static int count_step(void *context)
{
	struct recording_guard *guard = context;

	if (guard->steps_left == 0)
		return 1;
	guard->steps_left--;
	return 0;
}

static const struct {
	int id, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 2 * VALUE_BYTES_MAX },
	{ SQLITE_LIMIT_SQL_LENGTH, 65536 },
	{ SQLITE_LIMIT_COLUMN, 64 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 64 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 4 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 8 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

/*
 * Restrictions on SQLite's connection. Older versions of SQLite lack some of these
 * settings, but the check of the schema protects against the same risks.
 */
static const struct {
	int id, value;
} switches[] = {
#ifdef SQLITE_DBCONFIG_DEFENSIVE
	{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
	{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
#endif
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
	{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
#endif
	{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
	{ SQLITE_DBCONFIG_ENABLE_FKEY, 0 },
	{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
};

void recording_guard_open(sqlite3 *db, struct recording_guard *guard)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite.limit(db, limits[i].id, limits[i].value);
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		(void)sqlite.db_config(db, switches[i].id, switches[i].value, NULL);
	sqlite.progress_handler(db, STEP_INSTRUCTIONS, count_step, guard);
}

void recording_guard_reset(struct recording_guard *guard)
{
	guard->steps_left =
		STEPS_MIN + guard->bytes / STEP_INSTRUCTIONS * INSTRUCTIONS_PER_BYTE;
}

void recording_guard_resize(struct recording_guard *guard,
			    const struct recording_file *file)
{
	guard->bytes = recording_file_bytes(file);
	recording_guard_reset(guard);
}
