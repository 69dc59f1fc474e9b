/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "store/recording/facts.h"
#include "store/recording/reader.h"
#include "store/recording/schema.h"

#define MAPPINGS_MAX 1000000

/*
 * Upper bound on the total length of the names of a process's mappings. Each mapping has
 * its own copy of its name, so a small file could cause large allocations with one long
 * name for a million mappings.
 */
#define NAMES_BYTES_MAX (256 << 20)

/*
 * Number of samples that one query reads. SQLite sorts the rows of these samples
 * in memory.
 */
#define WALK_SAMPLES 1000

/* A row of the mapping table; `sample` is no_sample if there is no such row. */
struct row {
	int64_t sample, start;
	int64_t values[FACT_VALUES_MAX];
};

static const int64_t no_sample = INT64_MAX;

struct mapping_walk {
	int64_t process; /* number of the process's row in the process table */
	/*
	 * Statement that returns the rows after `next` up to the sample `end`, sorted by
	 * sample; NULL: there are no further rows.
	 */
	sqlite3_stmt *rows;
	int64_t end;
	int64_t sample; /* sample for which `list` is valid */
	uint64_t version;
	struct row next;
	struct mapping_list list; /* mappings in ascending order of address */
	/* name IDs of the mappings in `list`, in the same order */
	int64_t *names;
	size_t name_capacity;
	uint64_t name_bytes; /* total length of the names in bytes */
};

static void walk_release(struct mapping_walk *walk)
{
	sqlite.finalize(walk->rows);
	mapping_list_release(&walk->list);
	free(walk->names);
	free(walk);
}

void mapping_walks_release(struct mapping_walks *walks)
{
	for (size_t i = 0; i < walks->count; i++)
		walk_release(walks->items[i]);
	free(walks->items);
	memset(walks, 0, sizeof(*walks));
}

int recording_read_name(sqlite3_stmt *statement, int64_t number, char **ret)
{
	int error = 0;

	sqlite.bind_int64(statement, 1, number);
	if (sqlite.step(statement) != SQLITE_ROW)
		*ret = xstrdup("");
	else if ((error = recording_schema_check_row(statement, 0, TABLE_NAME)) == 0)
		*ret = recording_copy_text(statement, 1);
	sqlite.reset(statement);
	return error;
}

int recording_add_name_bytes(uint64_t *sum, size_t bytes)
{
	*sum += bytes;
	return *sum <= NAMES_BYTES_MAX
		       ? 0
		       : recording_damaged("the names of mappings are too long");
}

/*
 * Read the next row of the query into walk->next. After the last row, set its sample
 * to no_sample.
 */
static int step(struct mapping_walk *walk, sqlite3 *db)
{
	int code = sqlite.step(walk->rows);
	int error = code == SQLITE_ROW || code == SQLITE_DONE ? 0
							      : recording_sql_errno(db);
	size_t count = fact_tables[FACT_MAPPING].value_count;

	walk->next.sample = no_sample;
	if (code != SQLITE_ROW) {
		sqlite.finalize(walk->rows);
		walk->rows = NULL;
		return error;
	}
	walk->next.sample = sqlite.column_int64(walk->rows, 0);
	walk->next.start = sqlite.column_int64(walk->rows, 1);
	return recording_schema_read_numbers(walk->rows, 2, count, walk->next.values);
}

/*
 * Return the number of the last sample that a query reads, WALK_SAMPLES after the given
 * sample. The addition must not overflow, because an untrusted file may contain any
 * integer as a sample number.
 */
static int64_t range_end(int64_t sample)
{
	return sample < INT64_MAX - WALK_SAMPLES ? sample + WALK_SAMPLES : INT64_MAX;
}

/*
 * Prepare a query for the mapping rows of the samples from `first` to walk->end, and read
 * its first row. If with_former is set, the query also returns, for each start address,
 * the last row at or before `first`, because this row is still valid in that sample. The
 * query finds the start addresses one after another through an index.
 */
static int begin_rows(struct mapping_walk *walk, sqlite3 *db, int64_t first,
		      bool with_former)
{
	const struct fact_table_info *info = &fact_tables[FACT_MAPPING];
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;

	sqlite.finalize(walk->rows);
	walk->rows = NULL;
	strbuf_add_text(&sql,
			"WITH RECURSIVE starts(start) AS("
			"SELECT min(start) FROM mapping WHERE process=?1 UNION ALL "
			"SELECT (SELECT min(start) FROM mapping WHERE process=?1 "
			"AND start>starts.start) FROM starts WHERE starts.start NOT NULL)"
			"SELECT m.sample,m.start");
	for (size_t i = 0; i < info->value_count; i++)
		strbuf_addf(&sql, ",m.%s", info->values[i]);
	strbuf_addf(
		&sql,
		" FROM starts CROSS JOIN mapping AS m ON m.process=?1 "
		"AND m.start=starts.start AND m.sample<=?3 AND m.sample>=%s "
		"ORDER BY m.sample",
		with_former
			? "coalesce((SELECT max(sample) FROM mapping WHERE process=?1 "
			  "AND start=starts.start AND sample<=?2),?2)"
			: "?2");
	if (sqlite.prepare_v2(db, sql.text, -1, &walk->rows, NULL) != SQLITE_OK)
		return recording_sql_errno(db);
	sqlite.bind_int64(walk->rows, 1, walk->process);
	sqlite.bind_int64(walk->rows, 2, first);
	sqlite.bind_int64(walk->rows, 3, walk->end);
	return step(walk, db);
}

/* Begin a new list of the mappings that are valid in the given sample. */
static int begin(struct mapping_walk *walk, sqlite3 *db, int64_t sample)
{
	mapping_list_release(&walk->list);
	walk->name_bytes = 0;
	walk->version++;
	walk->end = range_end(sample);
	return begin_rows(walk, db, sample, true);
}

static int continue_walk(struct mapping_walk *walk, sqlite3 *db)
{
	int64_t first = walk->end + 1;

	walk->end = range_end(walk->end);
	return begin_rows(walk, db, first, false);
}

/* Return the index of the first mapping whose start address is at or above `start`. */
static size_t find_place(const struct mapping_list *list, uint64_t start)
{
	return SEARCH_FIRST(list->count, i, list->items[i].start_addr >= start);
}

/* Free the name of a mapping in the list, unless it is empty and thus not allocated. */
static void free_name(struct mapping *m)
{
	if (m->name_length > 0)
		free((char *)m->name);
}

static void remove_at(struct mapping_walk *walk, size_t place)
{
	struct mapping_list *list = &walk->list;
	size_t behind = list->count - place - 1;

	walk->name_bytes -= list->items[place].name_length;
	free_name(&list->items[place]);
	memmove(&list->items[place], &list->items[place + 1],
		behind * sizeof(*list->items));
	memmove(&walk->names[place], &walk->names[place + 1],
		behind * sizeof(*walk->names));
	list->count--;
}

static void insert_at(struct mapping_walk *walk, size_t place, const struct mapping *m)
{
	struct mapping_list *list = &walk->list;
	struct mapping added;
	size_t behind;

	mapping_list_add(list, m);
	behind = list->count - place - 1;
	added = list->items[list->count - 1];
	walk->names = xgrow(walk->names, &walk->name_capacity, list->count,
			    sizeof(*walk->names));
	memmove(&list->items[place + 1], &list->items[place],
		behind * sizeof(*list->items));
	memmove(&walk->names[place + 1], &walk->names[place],
		behind * sizeof(*walk->names));
	list->items[place] = added;
	walk->names[place] = 0;
}

static int set_name(struct mapping_walk *walk, size_t place, sqlite3_stmt *statement,
		    int64_t number)
{
	struct mapping *m = &walk->list.items[place];
	_cleanup_free_ char *name = NULL;
	int error;

	if (walk->names[place] == number)
		return 0;
	error = recording_read_name(statement, number, &name);
	if (error < 0)
		return error;
	if (!name)
		return -EBADMSG;
	walk->name_bytes -= m->name_length;
	free_name(m);
	m->name_length = (uint32_t)strlen(name);
	m->name = m->name_length > 0 ? xstrdup(name) : "";
	walk->names[place] = number;
	return recording_add_name_bytes(&walk->name_bytes, m->name_length);
}

static int apply(struct mapping_walk *walk, sqlite3_stmt *name)
{
	const struct row *row = &walk->next;
	uint64_t start = (uint64_t)row->start;
	size_t place = find_place(&walk->list, start);
	bool is_there = place < walk->list.count &&
			walk->list.items[place].start_addr == start;
	struct mapping m = { .start_addr = start, .name = "" }, *to;
	int64_t number;

	/* a row whose first value is unknown records that the mapping no longer exists */
	if (row->values[0] == FACT_UNKNOWN) {
		if (is_there)
			remove_at(walk, place);
		return 0;
	}
	facts_to_mapping(row->values, &m, &number);
	if (m.end_addr <= m.start_addr || walk->list.count >= MAPPINGS_MAX)
		return recording_damaged(
			"a mapping's range is invalid, or there are too many");
	if (!is_there)
		insert_at(walk, place, &m);
	to = &walk->list.items[place];
	m.name = to->name;
	m.name_length = to->name_length;
	*to = m;
	return set_name(walk, place, name, number);
}

static struct mapping_walk *find_walk(struct mapping_walks *walks, int64_t process)
{
	struct mapping_walk *walk;

	/*
	 * begin with the reader after the last one found, because callers request
	 * processes in the same order for each sample
	 */
	for (size_t n = 0; n < walks->count; n++) {
		size_t i = (walks->next + n) % walks->count;

		if (walks->items[i]->process == process) {
			walks->next = i + 1;
			return walks->items[i];
		}
	}
	walks->items = xgrow(walks->items, &walks->capacity, walks->count + 1,
			     sizeof(*walks->items));
	walk = walks->items[walks->count++] = xcalloc(1, sizeof(*walk));
	walk->process = process;
	walk->sample = no_sample;
	return walk;
}

int mapping_walks_read(struct mapping_walks *walks, sqlite3 *db, sqlite3_stmt *name,
		       const int64_t key[2], const struct mapping_list **ret,
		       uint64_t *ret_version)
{
	struct mapping_walk *walk = find_walk(walks, key[0]);
	int64_t sample = key[1];
	bool is_ahead = walk->sample <= sample && sample <= range_end(walk->end);
	int error = is_ahead ? 0 : begin(walk, db, sample);

	while (error == 0 && (walk->next.sample <= sample || walk->end < sample)) {
		if (walk->next.sample == no_sample) {
			error = continue_walk(walk, db);
			continue;
		}
		walk->version++;
		error = apply(walk, name);
		if (error == 0)
			error = step(walk, db);
	}
	walk->sample = error == 0 ? sample : no_sample;
	*ret = &walk->list;
	*ret_version = walk->version;
	return error;
}
