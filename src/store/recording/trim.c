/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/trim.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "store/recording/schema.h"

#define SAMPLES_MIN 2

/* Find the first sample that a trim keeps. *ret is 0 if all samples are kept. */
static int find_first_kept(sqlite3 *db, const struct recording_bounds *bounds,
			   uint64_t unix_ms, int64_t *ret)
{
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;
	int64_t pages = 0, page_bytes = 0, first = 0, last = 0, count;
	int error;

	*ret = 0;
	if (bounds->ns > 0) {
		uint64_t ms = bounds->ns / NS_PER_MS;

		strbuf_addf(&sql, "SELECT min(sample) FROM sample WHERE unix_ms>=%lld",
			    (long long)(unix_ms > ms ? unix_ms - ms : 0));
		error = recording_sql_number(db, sql.text, ret);
		if (error < 0)
			return error;
	}
	if (bounds->bytes == 0)
		return 0;
	error = recording_sql_number(db, "PRAGMA page_size", &page_bytes);
	if (error == 0)
		error = recording_sql_number(db,
					     "SELECT (SELECT * FROM pragma_page_count)-"
					     "(SELECT * FROM pragma_freelist_count)",
					     &pages);
	if (error == 0)
		error = recording_sql_number(db, "SELECT min(sample) FROM sample",
					     &first);
	if (error == 0)
		error = recording_sql_number(db, "SELECT max(sample) FROM sample", &last);
	if (error < 0 || (uint64_t)(pages * page_bytes) <= bounds->bytes)
		return error;
	if (first < 1 || last > RECORDING_SAMPLE_MAX)
		return recording_damaged("the number of a sample is out of range");
	count = last - first + 1;
	if (count > SAMPLES_MIN && first + count / RECORDING_TRIM_SHARE + 1 > *ret)
		*ret = first + count / RECORDING_TRIM_SHARE + 1;
	return 0;
}

/*
 * Delete the rows of samples before `first` that are no longer needed. A row is not
 * needed if its key has a later row at or before the sample `first`, or if the row
 * records that its key no longer exists.
 */
static int trim_table(sqlite3 *db, enum fact_table table, int64_t first)
{
	const struct fact_table_info *info = &fact_tables[table];
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;
	int error;

	strbuf_addf(
		&sql,
		"DELETE FROM %s WHERE sample<%lld AND EXISTS(SELECT 1 FROM %s AS later WHERE ",
		info->name, (long long)first, info->name);
	for (size_t i = 0; i < info->key_count; i++)
		strbuf_addf(&sql, "later.%s=%s.%s AND ", info->keys[i], info->name,
			    info->keys[i]);
	strbuf_addf(&sql, "later.sample>%s.sample AND later.sample<=%lld)", info->name,
		    (long long)first);
	error = recording_sql_execute(db, sql.text);
	if (error < 0)
		return error;
	strbuf_clear(&sql);
	strbuf_addf(&sql, "DELETE FROM %s WHERE sample<%lld AND %s IS NULL", info->name,
		    (long long)first, info->values[0]);
	return recording_sql_execute(db, sql.text);
}

static int trim_before(sqlite3 *db, int64_t first)
{
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;
	int error = 0;

	for (int t = 0; t < FACT_TABLE_COUNT_ && error == 0; t++)
		error = trim_table(db, (enum fact_table)t, first);
	if (error < 0)
		return error;
	strbuf_addf(
		&sql,
		"DELETE FROM sample WHERE sample<%lld;DELETE FROM event WHERE sample<%lld;"
		"DELETE FROM process WHERE NOT EXISTS"
		"(SELECT 1 FROM state WHERE state.process=process.process);"
		"DELETE FROM note WHERE process NOT IN(SELECT process FROM process);"
		"DELETE FROM cgroup WHERE NOT EXISTS"
		"(SELECT 1 FROM cgroup_level AS l WHERE l.cgroup=cgroup.cgroup);"
		"DELETE FROM name WHERE name NOT IN(SELECT name FROM mapping WHERE name NOT NULL);",
		(long long)first, (long long)first);
	return recording_sql_execute(db, sql.text);
}

int recording_trim(sqlite3 *db, const struct recording_bounds *bounds, uint64_t unix_ms)
{
	int64_t first;
	int error = find_first_kept(db, bounds, unix_ms, &first);

	return error < 0 || first == 0 ? error : trim_before(db, first);
}
