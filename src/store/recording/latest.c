/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/latest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "store/recording/schema.h"

/* A row of a table; `sample` is no_sample if there is no such row. */
struct row {
	int64_t sample;
	int64_t values[FACT_VALUES_MAX];
};

static const int64_t no_sample = INT64_MAX;

/* The position in the rows of one key, for reading samples in ascending order. */
struct cursor {
	enum fact_table table;
	int64_t keys[FACT_KEYS_MAX];
	/*
	 * Statement that returns the rows after `next`; NULL: there are no further rows.
	 */
	sqlite3_stmt *rows;
	struct row now, next;
};

struct latest_facts {
	sqlite3 *db;
	sqlite3_stmt *searches[FACT_TABLE_COUNT_];
	bool is_scanning;
	/*
	 * Hash table of cursors by key. Its size is a power of 2, and at least half of
	 * its slots are NULL.
	 */
	struct cursor **cursors;
	size_t count, capacity;
};

static void add_values(struct strbuf *sql, const struct fact_table_info *info)
{
	for (size_t i = 0; i < info->value_count; i++)
		strbuf_addf(sql, ",%s", info->values[i]);
	strbuf_addf(sql, " FROM %s WHERE ", info->name);
}

/* Append conditions for the keys of a table, such as "process=?1 AND start=?2 AND ". */
static void add_keys(struct strbuf *sql, const struct fact_table_info *info)
{
	for (size_t i = 0; i < info->key_count; i++)
		strbuf_addf(sql, "%s=?%zu AND ", info->keys[i], i + 1);
}

static int prepare(struct latest_facts *latest, const struct strbuf *sql,
		   sqlite3_stmt **ret)
{
	return sqlite.prepare_v2(latest->db, sql->text, -1, ret, NULL) == SQLITE_OK
		       ? 0
		       : recording_sql_errno(latest->db);
}

/*
 * Prepare the query for the last row of a key at or before a sample, for example: "SELECT
 * sample,rss_kb,… FROM usage WHERE process=?1 AND sample<=?2 ORDER BY sample DESC
 * LIMIT 1".
 */
static int prepare_search(struct latest_facts *latest, enum fact_table table)
{
	const struct fact_table_info *info = &fact_tables[table];
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;

	strbuf_add_text(&sql, "SELECT sample");
	add_values(&sql, info);
	add_keys(&sql, info);
	strbuf_addf(&sql, "sample<=?%zu ORDER BY sample DESC LIMIT 1",
		    info->key_count + 1);
	return prepare(latest, &sql, &latest->searches[table]);
}

/*
 * Prepare a query for the last row of a key at or before a sample, and for all later rows
 * of the key.
 */
static int prepare_rows(struct latest_facts *latest, enum fact_table table,
			sqlite3_stmt **ret)
{
	const struct fact_table_info *info = &fact_tables[table];
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;

	strbuf_add_text(&sql, "SELECT sample");
	add_values(&sql, info);
	add_keys(&sql, info);
	strbuf_addf(&sql, "sample>=coalesce((SELECT max(sample) FROM %s WHERE ",
		    info->name);
	add_keys(&sql, info);
	strbuf_addf(&sql, "sample<=?%zu),0) ORDER BY sample", info->key_count + 1);
	return prepare(latest, &sql, ret);
}

int latest_facts_open(sqlite3 *db, const struct recording_tables *tables,
		      struct latest_facts **ret)
{
	struct latest_facts *latest = xcalloc(1, sizeof(*latest));
	int error = 0;

	latest->db = db;
	for (int t = 0; t < FACT_TABLE_COUNT_ && error == 0; t++)
		if (t != FACT_HEAP_PART || tables->has_heap_parts)
			error = prepare_search(latest, (enum fact_table)t);
	if (error < 0)
		latest_facts_close(latest);
	else
		*ret = latest;
	return error;
}

void latest_facts_scan(struct latest_facts *latest, bool is_on)
{
	for (size_t i = 0; i < latest->capacity; i++) {
		if (!latest->cursors[i])
			continue;
		sqlite.finalize(latest->cursors[i]->rows);
		free(latest->cursors[i]);
	}
	free(latest->cursors);
	latest->cursors = NULL;
	latest->count = latest->capacity = 0;
	latest->is_scanning = is_on;
}

void latest_facts_close(struct latest_facts *latest)
{
	if (!latest)
		return;
	latest_facts_scan(latest, false);
	for (int t = 0; t < FACT_TABLE_COUNT_; t++)
		sqlite.finalize(latest->searches[t]);
	free(latest);
}

static void bind(sqlite3_stmt *statement, const struct fact_table_info *info,
		 const int64_t keys[FACT_KEYS_MAX], int64_t sample)
{
	for (size_t i = 0; i < FACT_KEYS_MAX && i < info->key_count; i++)
		sqlite.bind_int64(statement, (int)i + 1, keys[i]);
	sqlite.bind_int64(statement, (int)info->key_count + 1, sample);
}

/* Read the next row of a statement. After the last row, set ret->sample to no_sample. */
static int step(struct latest_facts *latest, sqlite3_stmt *statement,
		const struct fact_table_info *info, struct row *ret)
{
	int code = sqlite.step(statement);

	ret->sample = no_sample;
	if (code == SQLITE_DONE)
		return 0;
	if (code != SQLITE_ROW)
		return recording_sql_errno(latest->db);
	ret->sample = sqlite.column_int64(statement, 0);
	return recording_schema_read_numbers(statement, 1, info->value_count,
					     ret->values);
}

static struct cursor **find_slot(const struct latest_facts *latest, enum fact_table table,
				 const int64_t keys[FACT_KEYS_MAX])
{
	size_t count = fact_tables[table].key_count, mask = latest->capacity - 1;
	uint64_t hash = (uint64_t)table + 1;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (uint64_t)keys[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = (hash ^ hash >> 32) & mask;; i = (i + 1) & mask) {
		const struct cursor *cursor = latest->cursors[i];

		if (!cursor || (cursor->table == table &&
				memcmp(cursor->keys, keys, count * sizeof(*keys)) == 0))
			return &latest->cursors[i];
	}
}

static void grow(struct latest_facts *latest)
{
	struct cursor **old = latest->cursors;
	size_t old_capacity = latest->capacity;

	if (latest->count < old_capacity / 2)
		return;
	latest->capacity = old_capacity ? 2 * old_capacity : 64;
	latest->cursors = xcalloc(latest->capacity, sizeof(*latest->cursors));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i])
			*find_slot(latest, old[i]->table, old[i]->keys) = old[i];
	free(old);
}

/* Position the cursor just before the row that was valid in a sample. */
static int begin(struct latest_facts *latest, struct cursor *cursor, int64_t sample)
{
	const struct fact_table_info *info = &fact_tables[cursor->table];
	int error = 0;

	if (!cursor->rows)
		error = prepare_rows(latest, cursor->table, &cursor->rows);
	if (error < 0)
		return error;
	sqlite.reset(cursor->rows);
	bind(cursor->rows, info, cursor->keys, sample);
	cursor->now.sample = no_sample;
	return step(latest, cursor->rows, info, &cursor->next);
}

static int advance(struct latest_facts *latest, struct cursor *cursor, int64_t sample)
{
	const struct fact_table_info *info = &fact_tables[cursor->table];
	int error = 0;

	while (error == 0 && cursor->next.sample <= sample) {
		cursor->now = cursor->next;
		error = step(latest, cursor->rows, info, &cursor->next);
	}
	if (error < 0 || cursor->next.sample == no_sample) {
		sqlite.finalize(cursor->rows);
		cursor->rows = NULL;
	}
	return error;
}

/*
 * Find the row that was valid in a sample, starting from the cursor of its key. Callers
 * usually request samples in ascending order.
 */
static int walk(struct latest_facts *latest, enum fact_table table,
		const int64_t keys[FACT_KEYS_MAX], int64_t sample, const struct row **ret)
{
	struct cursor **slot, *cursor;
	int error = 0;

	grow(latest);
	slot = find_slot(latest, table, keys);
	cursor = *slot;
	if (!cursor) {
		cursor = *slot = xcalloc(1, sizeof(*cursor));
		latest->count++;
		cursor->table = table;
		memcpy(cursor->keys, keys, fact_tables[table].key_count * sizeof(*keys));
		error = begin(latest, cursor, sample);
	} else if (cursor->now.sample != no_sample && cursor->now.sample > sample) {
		/*
		 * This sample precedes the row found last, so search again from the
		 * start. If the last search found no row, no new search is needed: there
		 * is no row for an earlier sample either.
		 */
		error = begin(latest, cursor, sample);
	}
	if (error == 0)
		error = advance(latest, cursor, sample);
	*ret = &cursor->now;
	return error;
}

static int search(struct latest_facts *latest, enum fact_table table,
		  const int64_t keys[FACT_KEYS_MAX], int64_t sample, struct row *ret)
{
	sqlite3_stmt *statement = latest->searches[table];
	int error;

	bind(statement, &fact_tables[table], keys, sample);
	error = step(latest, statement, &fact_tables[table], ret);
	sqlite.reset(statement);
	return error;
}

int latest_facts_read(struct latest_facts *latest, enum fact_table table,
		      const int64_t keys[FACT_KEYS_MAX], int64_t sample, int64_t *ret)
{
	struct row found = { 0 };
	const struct row *row = &found;
	int error = latest->is_scanning && table != FACT_MAPPING
			    ? walk(latest, table, keys, sample, &row)
			    : search(latest, table, keys, sample, &found);

	if (error < 0)
		return error;
	/* a row whose first value is unknown records that the key no longer exists */
	if (row->sample > sample || row->values[0] == FACT_UNKNOWN)
		return -ENOENT;
	memcpy(ret, row->values, fact_tables[table].value_count * sizeof(*ret));
	return 0;
}
