/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/recording.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/recording/facts.h"
#include "store/recording/trim.h"
#include "store/recording/write.h"

#define SYNC_EVERY_NS NS_PER_S

static const char *const statement_texts[STATEMENT_COUNT_] = {
	[STATEMENT_SAMPLE] = "INSERT INTO sample VALUES(?,?,?,?,?)",
	[STATEMENT_PROCESS] = "INSERT INTO process VALUES(NULL,?,?,?,?,?)",
	[STATEMENT_NAME] = "INSERT INTO name VALUES(NULL,?)",
	[STATEMENT_FIND_NAME] = "SELECT name FROM name WHERE text=?",
	[STATEMENT_CGROUP] = "INSERT INTO cgroup VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STATEMENT_EVENT] = "INSERT INTO event VALUES(NULL,?,?,?,?,?)",
	[STATEMENT_NOTE] = "INSERT OR REPLACE INTO note VALUES(?,?,?)",
};

static int prepare(struct recording *r)
{
	for (int i = 0; i < STATEMENT_COUNT_; i++) {
		_cleanup_free_ char *made =
			i < FACT_TABLE_COUNT_ ? recording_sql_insert((enum fact_table)i)
					      : NULL;

		if (sqlite.prepare_v2(r->db, made ? made : statement_texts[i], -1,
				      &r->statements[i], NULL) != SQLITE_OK)
			return recording_sql_errno(r->db);
	}
	return 0;
}

int recording_run(struct recording *r, enum statement which)
{
	int code = sqlite.step(r->statements[which]);
	int error = code == SQLITE_DONE || code == SQLITE_ROW
			    ? 0
			    : recording_sql_errno(r->db);

	sqlite.reset(r->statements[which]);
	return error;
}

void recording_bind_numbers(sqlite3_stmt *statement, int first, const int64_t *numbers,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == FACT_UNKNOWN)
			sqlite.bind_null(statement, first + (int)i);
		else
			sqlite.bind_int64(statement, first + (int)i, numbers[i]);
}

void recording_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	if (text)
		sqlite.bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
	else
		sqlite.bind_null(statement, at);
}

static int write_row(struct recording *r, enum fact_table table,
		     const int64_t keys[FACT_KEYS_MAX], const int64_t *values)
{
	const struct fact_table_info *info = &fact_tables[table];
	sqlite3_stmt *statement = r->statements[table];

	assert(info->key_count <= FACT_KEYS_MAX);
	recording_bind_numbers(statement, 1, keys, info->key_count);
	sqlite.bind_int64(statement, (int)info->key_count + 1, r->sample);
	recording_bind_numbers(statement, (int)info->key_count + 2, values,
			       info->value_count);
	return recording_run(r, (enum statement)table);
}

int recording_add_fact(struct recording *r, enum fact_table table,
		       const int64_t keys[FACT_KEYS_MAX], const int64_t *values)
{
	if (!known_facts_update(&r->known, table, keys, values, r->sample))
		return 0;
	return write_row(r, table, keys, values);
}

int recording_add_removals(struct recording *r, enum fact_table table, int64_t first_key)
{
	int64_t keys[FACT_KEYS_MAX], none[FACT_VALUES_MAX];
	int error = 0;

	for (size_t i = 0; i < FACT_VALUES_MAX; i++)
		none[i] = FACT_UNKNOWN;
	while (error == 0 &&
	       known_facts_remove_stale(&r->known, table, first_key, r->sample, keys))
		error = write_row(r, table, keys, none);
	return error;
}

static int begin_session(struct recording *r)
{
	int error = recording_sql_number(r->db, "SELECT max(session) FROM sample",
					 &r->session);

	if (error == 0)
		error = recording_sql_number(r->db, "SELECT max(sample) FROM sample",
					     &r->sample);
	if (error < 0)
		return error;
	if (r->session < 0 || r->session >= RECORDING_SAMPLE_MAX || r->sample < 0 ||
	    r->sample >= RECORDING_SAMPLE_MAX)
		return recording_damaged("the number of a sample is out of range");
	r->session++;
	return 0;
}

int recording_open(const char *path, const struct recording_bounds *bounds,
		   struct recording **ret)
{
	struct recording *r;
	int error;

	if (!recording_sql_load())
		return -EOPNOTSUPP;
	r = xcalloc(1, sizeof(*r));
	r->bounds = *bounds;
	error = recording_lock_file(r, path);
	if (error == 0)
		error = recording_open_database(r, path);
	if (error == 0)
		error = prepare(r);
	if (error == 0)
		error = begin_session(r);
	if (error < 0) {
		recording_close(r);
		return error;
	}
	*ret = r;
	return 0;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	for (int i = 0; i < STATEMENT_COUNT_; i++)
		if (r->db)
			sqlite.finalize(r->statements[i]);
	if (r->db) {
		if (r->is_begun)
			(void)recording_sql_execute(r->db, "ROLLBACK");
		sqlite.close(r->db);
	}
	if (!r->has_content)
		recording_file_remove_created(r->file);
	recording_file_close(r->file);
	known_facts_release(&r->known);
	free(r->processes);
	free(r->cgroup_key);
	free(r);
}

int recording_roll_back(struct recording *r, int error)
{
	if (r->is_begun)
		(void)recording_sql_execute(r->db, "ROLLBACK");
	r->is_begun = false;
	known_facts_release(&r->known);
	r->process_count = 0;
	free(r->cgroup_key);
	r->cgroup_key = NULL;
	return error;
}

int recording_begin(struct recording *r)
{
	int error;

	if (r->is_begun)
		recording_roll_back(r, 0);
	recording_guard_reset(&r->guard);
	error = recording_sql_execute(r->db, "BEGIN IMMEDIATE");
	if (error < 0)
		return error;
	r->is_begun = true;
	r->sample++;
	return 0;
}

static int write_sample(struct recording *r, const struct recording_moment *moment)
{
	const int64_t values[] = { r->sample, r->session, (int64_t)moment->unix_ms,
				   (int64_t)(moment->elapsed_ns / NS_PER_US),
				   (int64_t)(moment->cost_ns / NS_PER_US) };

	recording_bind_numbers(r->statements[STATEMENT_SAMPLE], 1, values,
			       sizeof(values) / sizeof(values[0]));
	return recording_run(r, STATEMENT_SAMPLE);
}

static struct known_process *find_process(struct recording *r, const struct process *p)
{
	for (size_t i = 0; i < r->process_count; i++)
		if (r->processes[i].pid == p->pid &&
		    r->processes[i].start_ticks == p->start_ticks &&
		    strcmp(r->processes[i].comm, p->comm) == 0)
			return &r->processes[i];
	return NULL;
}

static int find_or_add_process(struct recording *r, const struct usage *u,
			       struct known_process **ret)
{
	sqlite3_stmt *statement = r->statements[STATEMENT_PROCESS];
	const int64_t numbers[] = { r->session, u->process.pid,
				    (int64_t)u->process.start_ticks };
	struct known_process *known = find_process(r, &u->process);
	int error;

	if (!known) {
		recording_bind_numbers(statement, 1, numbers, 3);
		recording_bind_text(statement, 4, u->process.comm);
		recording_bind_text(statement, 5, u->command);
		error = recording_run(r, STATEMENT_PROCESS);
		if (error < 0)
			return error;
		r->processes = xgrow(r->processes, &r->process_capacity,
				     r->process_count + 1, sizeof(*r->processes));
		known = &r->processes[r->process_count++];
		*known = (struct known_process){ .pid = u->process.pid,
						 .start_ticks = u->process.start_ticks,
						 .row = sqlite.last_insert_rowid(r->db) };
		memcpy(known->comm, u->process.comm, sizeof(known->comm));
	}
	known->sample = r->sample;
	*ret = known;
	return 0;
}

static int add_usage(struct recording *r, const struct usage *u, enum source source,
		     int64_t *ret_row)
{
	int64_t state[FACT_VALUES_MAX], often[FACT_VALUES_MAX], seldom[FACT_VALUES_MAX];
	struct known_process *process;
	int64_t keys[FACT_KEYS_MAX] = { 0 };
	int error = find_or_add_process(r, u, &process);

	if (error < 0)
		return error;
	keys[0] = *ret_row = process->row;
	facts_from_state(u, source, state);
	error = recording_add_fact(r, FACT_STATE, keys, state);
	if (error < 0 || source < SOURCE_ROLLUP)
		return error;
	facts_from_usage(u, often, seldom);
	error = recording_add_fact(r, FACT_USAGE, keys, often);
	return error < 0 ? error : recording_add_fact(r, FACT_USAGE_MORE, keys, seldom);
}

int recording_add_usage(struct recording *r, const struct usage *u)
{
	int64_t row;
	int error = add_usage(r, u, u->source == SOURCE_SMAPS ? SOURCE_ROLLUP : u->source,
			      &row);

	return error < 0 ? recording_roll_back(r, error) : 0;
}

static int find_or_add_name(struct recording *r, const char *text, int64_t *ret)
{
	sqlite3_stmt *find = r->statements[STATEMENT_FIND_NAME];
	int code, error;

	recording_bind_text(find, 1, text);
	code = sqlite.step(find);
	*ret = code == SQLITE_ROW ? sqlite.column_int64(find, 0) : 0;
	error = code == SQLITE_ROW || code == SQLITE_DONE ? 0
							  : recording_sql_errno(r->db);
	sqlite.reset(find);
	if (code != SQLITE_DONE)
		return error;
	recording_bind_text(r->statements[STATEMENT_NAME], 1, text);
	error = recording_run(r, STATEMENT_NAME);
	*ret = sqlite.last_insert_rowid(r->db);
	return error;
}

static int add_heap(struct recording *r, const struct usage *u,
		    const struct mapping_list *mappings, int64_t row)
{
	const int64_t keys[FACT_KEYS_MAX] = { row };
	int64_t values[FACT_VALUES_MAX];

	for (size_t i = 0; i < FACT_VALUES_MAX; i++)
		/* a row of NULLs records that the process no longer has a heap */
		values[i] = FACT_UNKNOWN;
	if (u->heap_quality != QUALITY_UNKNOWN)
		facts_from_heap(u, mappings, values);
	return recording_add_fact(r, FACT_HEAP, keys, values);
}

static int add_heap_parts(struct recording *r, const struct usage *u, int64_t row)
{
	int error = 0;

	for (size_t i = 0; usage_heaps_are_listed(u) && i < u->heap_count && error == 0;
	     i++) {
		const int64_t keys[FACT_KEYS_MAX] = { row,
						      (int64_t)u->heaps[i].allocator };
		int64_t values[FACT_VALUES_MAX];

		facts_from_heap_part(&u->heaps[i], values);
		error = recording_add_fact(r, FACT_HEAP_PART, keys, values);
	}
	return error < 0 ? error : recording_add_removals(r, FACT_HEAP_PART, row);
}

int recording_add_mappings(struct recording *r, const struct usage *u,
			   const struct mapping_list *mappings)
{
	int64_t row;
	int error = add_usage(r, u, SOURCE_SMAPS, &row);

	for (size_t i = 0; i < mappings->count && error == 0; i++) {
		const struct mapping *m = &mappings->items[i];
		int64_t values[FACT_VALUES_MAX], name;
		int64_t keys[FACT_KEYS_MAX] = { row, (int64_t)m->start_addr };

		error = find_or_add_name(r, m->name, &name);
		if (error < 0)
			break;
		facts_from_mapping(m, name, values);
		error = recording_add_fact(r, FACT_MAPPING, keys, values);
	}
	if (error == 0)
		error = recording_add_removals(r, FACT_MAPPING, row);
	if (error == 0)
		error = add_heap(r, u, mappings, row);
	if (error == 0)
		error = add_heap_parts(r, u, row);
	return error < 0 ? recording_roll_back(r, error) : 0;
}

int recording_add_event(struct recording *r, const struct recorded_event *event)
{
	sqlite3_stmt *statement = r->statements[STATEMENT_EVENT];
	const int64_t numbers[] = { r->sample, (int64_t)event->unix_ms };
	const int64_t pid = event->pid > 0 ? event->pid : FACT_UNKNOWN;
	int error;

	recording_guard_reset(&r->guard);
	recording_bind_numbers(statement, 1, numbers, 2);
	recording_bind_text(statement, 3, event->kind);
	recording_bind_numbers(statement, 4, &pid, 1);
	recording_bind_text(statement, 5, event->text);
	error = recording_run(r, STATEMENT_EVENT);
	if (error < 0)
		return recording_roll_back(r, error);
	r->has_content = r->has_content || !r->is_begun;
	return 0;
}

int recording_add_note(struct recording *r, const struct process *process,
		       const char *kind, const char *text)
{
	sqlite3_stmt *statement = r->statements[STATEMENT_NOTE];
	const struct known_process *known = find_process(r, process);
	int error;

	if (!known)
		return -EINVAL;
	recording_bind_numbers(statement, 1, &known->row, 1);
	recording_bind_text(statement, 2, kind);
	recording_bind_text(statement, 3, text);
	error = recording_run(r, STATEMENT_NOTE);
	return error < 0 ? recording_roll_back(r, error) : 0;
}

static int forget_ended_processes(struct recording *r)
{
	static const enum fact_table tables[] = { FACT_STATE,	   FACT_USAGE,
						  FACT_USAGE_MORE, FACT_MAPPING,
						  FACT_HEAP,	   FACT_HEAP_PART };
	size_t kept = 0;
	int error = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		struct known_process *p = &r->processes[i];

		if (p->sample == r->sample) {
			r->processes[kept++] = *p;
			continue;
		}
		for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]) && error == 0;
		     t++)
			error = recording_add_removals(r, tables[t], p->row);
	}
	r->process_count = kept;
	return error;
}

/*
 * Trim the recording if a trim is due. Between trims, the recording may exceed its bound
 * on time by a tenth. If its size is bounded, a trim is due every SYNC_EVERY_NS.
 */
static int trim(struct recording *r, const struct recording_moment *moment)
{
	uint64_t every_ns = r->bounds.bytes > 0 ? SYNC_EVERY_NS
						: r->bounds.ns / RECORDING_TRIM_SHARE;

	if ((r->bounds.ns == 0 && r->bounds.bytes == 0) ||
	    moment->elapsed_ns < r->trimmed_elapsed_ns + every_ns)
		return 0;
	r->trimmed_elapsed_ns = moment->elapsed_ns;
	recording_guard_resize(&r->guard, r->file);
	return recording_trim(r->db, &r->bounds, moment->unix_ms);
}

/*
 * Check that the recording still has a name in its directory. If the file were deleted,
 * SQLite would continue to write to it, but no process could ever open it.
 */
static int check_exists(const struct recording *r)
{
	struct stat st;

	return fstat(recording_file_fd(r->file), &st) == 0 && st.st_nlink == 0 ? -ENOENT
									       : 0;
}

int recording_end(struct recording *r, const struct recording_moment *moment)
{
	int error = r->is_begun ? write_sample(r, moment) : -EINVAL;

	if (error == 0)
		error = forget_ended_processes(r);

	if (error == 0)
		error = trim(r, moment);
	if (error == 0)
		error = recording_sql_execute(r->db, "COMMIT");
	if (error < 0)
		return recording_roll_back(r, error);
	r->is_begun = false;
	r->has_content = true;
	if (moment->elapsed_ns < r->synced_elapsed_ns + SYNC_EVERY_NS)
		return check_exists(r);
	r->synced_elapsed_ns = moment->elapsed_ns;
	/* if a reader blocks this checkpoint, the next checkpoint completes it */
	(void)sqlite.wal_checkpoint_v2(r->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
				       NULL);
	return check_exists(r);
}
