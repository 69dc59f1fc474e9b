/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/recording_facts.h"
#include "store/recording_reader.h"

#define BUSY_MS	     5000
#define SAMPLES_MAX  10000000
#define MAPPINGS_MAX 1000000

static int prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret)
{
	return sqlite.prepare_v2(r->db, sql, -1, ret, NULL) == SQLITE_OK
		       ? 0
		       : recording_sql_errno(r->db);
}

static int prepare_all(struct recording_reader *r)
{
	int error = latest_facts_open(r->db, &r->latest);

	if (error == 0)
		error = prepare(r, "SELECT start FROM mapping WHERE process=? AND start>? "
				   "ORDER BY start LIMIT 1", &r->starts);
	if (error == 0)
		error = prepare(r, "SELECT text FROM name WHERE name=?", &r->name);
	if (error == 0)
		error = prepare(r, "SELECT cgroup,version,is_cut,paths,runtime,container_id,"
				   "container,pod_uid,pod,namespace,qos,unit FROM cgroup "
				   "WHERE session=? AND EXISTS(SELECT 1 FROM cgroup_level AS l "
				   "WHERE l.cgroup=cgroup.cgroup AND level=0 AND sample<=?) "
				   "ORDER BY cgroup DESC LIMIT 1", &r->group);
	return error;
}

static int read_samples(struct recording_reader *r)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(r, "SELECT sample,session,unix_ms,elapsed_us,cost_us FROM sample "
			       "ORDER BY sample", &statement);

	if (error < 0)
		return error;
	while (sqlite.step(statement) == SQLITE_ROW && r->count < SAMPLES_MAX) {
		int64_t numbers[5];
		struct recorded_sample *sample;

		for (int i = 0; i < 5; i++)
			numbers[i] = sqlite.column_int64(statement, i);
		if (numbers[2] < 0 || numbers[3] < 0 || numbers[4] < 0)
			continue;
		r->samples = xgrow(r->samples, &r->capacity, r->count + 1, sizeof(*r->samples));
		sample = &r->samples[r->count++];
		sample->number = numbers[0];
		sample->session = numbers[1];
		sample->moment.unix_ms = (uint64_t)numbers[2];
		sample->moment.elapsed_ns = (uint64_t)numbers[3] * NS_PER_US;
		sample->moment.cost_ns = (uint64_t)numbers[4] * NS_PER_US;
	}
	error = recording_sql_errno(r->db);
	sqlite.finalize(statement);
	return error < 0 ? error : r->count > 0 ? 0 : -EBADMSG;
}

static int open_database(struct recording_reader *r, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int64_t id, version;
	int error;

	if (fd < 0)
		return -errno;
	if (sqlite.open_v2(path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return r->db ? recording_sql_errno(r->db) : -ENOMEM;
	sqlite.busy_timeout(r->db, BUSY_MS);
	/* views and triggers of a foreign file are not run */
	error = recording_sql_execute(r->db, "PRAGMA trusted_schema=OFF");
	if (error == 0)
		error = recording_sql_number(r->db, "PRAGMA application_id", &id);
	if (error == 0)
		error = recording_sql_number(r->db, "PRAGMA user_version", &version);
	/* what begins as a recording is one that is damaged, as by being cut off */
	if (error == -EBADMSG)
		return recording_sql_check_head(fd) == 0 ? -EBADMSG : -EEXIST;
	if (error == 0 && id != RECORDING_APPLICATION_ID)
		return -EEXIST;
	if (error == 0 && version > RECORDING_VERSION)
		return -ENOTSUP;
	return error;
}

int recording_reader_open(const char *path, struct recording_reader **ret)
{
	struct recording_reader *r;
	int error;

	if (!recording_sql_load())
		return -EOPNOTSUPP;
	r = xcalloc(1, sizeof(*r));
	error = open_database(r, path);
	if (error == 0)
		error = read_samples(r);
	if (error == 0)
		error = prepare_all(r);
	if (error < 0) {
		recording_reader_close(r);
		return error;
	}
	*ret = r;
	return 0;
}

static void forget_processes(struct recording_reader *r)
{
	for (size_t i = 0; i < r->process_count; i++) {
		free(r->processes[i].comm);
		free(r->processes[i].command);
	}
	r->process_count = 0;
}

void recording_reader_close(struct recording_reader *r)
{
	if (!r)
		return;
	forget_processes(r);
	free(r->processes);
	latest_facts_close(r->latest);
	mapping_walks_release(&r->walks);
	sqlite.finalize(r->starts);
	sqlite.finalize(r->name);
	sqlite.finalize(r->group);
	if (r->db)
		sqlite.close(r->db);
	free(r->samples);
	free(r);
}

const struct recorded_sample *recording_reader_samples(const struct recording_reader *r,
						       size_t *ret_count)
{
	*ret_count = r->count;
	return r->samples;
}

char *recording_copy_text(sqlite3_stmt *statement, int column)
{
	const char *text = sqlite.column_blob(statement, column);

	return text ? xstrndup(text, (size_t)sqlite.column_bytes(statement, column)) : xstrdup("");
}

static void add_process(struct recording_reader *r, sqlite3_stmt *statement)
{
	struct recorded_process *p;

	r->processes = xgrow(r->processes, &r->process_capacity, r->process_count + 1,
			     sizeof(*r->processes));
	p = &r->processes[r->process_count++];
	p->row = sqlite.column_int64(statement, 0);
	p->pid = (int)sqlite.column_int64(statement, 1);
	p->start_ticks = (uint64_t)sqlite.column_int64(statement, 2);
	p->comm = recording_copy_text(statement, 3);
	p->command = sqlite.column_type(statement, 4) == SQLITE_NULL ? NULL
								    : recording_copy_text(statement, 4);
	p->first = sqlite.column_int64(statement, 5);
	p->end = sqlite.column_type(statement, 6) == SQLITE_NULL ? INT64_MAX
								 : sqlite.column_int64(statement, 6);
}

int recording_find_processes(struct recording_reader *r, int64_t session)
{
	sqlite3_stmt *statement = NULL;
	int error;

	if (r->process_count > 0 && r->session == session)
		return 0;
	forget_processes(r);
	error = prepare(r, "SELECT process,pid,start_ticks,comm,command,"
			   "(SELECT min(sample) FROM state WHERE state.process=p.process),"
			   "(SELECT CASE WHEN ppid IS NULL THEN sample END FROM state"
			   " WHERE state.process=p.process ORDER BY sample DESC LIMIT 1)"
			   "FROM process AS p WHERE session=? ORDER BY pid,process", &statement);
	if (error < 0)
		return error;
	sqlite.bind_int64(statement, 1, session);
	while (sqlite.step(statement) == SQLITE_ROW)
		add_process(r, statement);
	error = recording_sql_errno(r->db);
	sqlite.finalize(statement);
	r->session = session;
	return error;
}

/* Who it is, and what it had. -ENOENT: it was not there. */
static int read_process(struct recording_reader *r, const struct recorded_process *p,
			int64_t sample, struct usage *ret)
{
	const int64_t keys[FACT_KEYS_MAX] = { p->row };
	int64_t values[FACT_VALUES_MAX], seldom[FACT_VALUES_MAX];
	int error = latest_facts_read(r->latest, FACT_STATE, keys, sample, values);

	if (error < 0)
		return error;
	facts_to_state(values, ret);
	ret->process.pid = p->pid;
	ret->process.start_ticks = p->start_ticks;
	text_copy(ret->process.comm, sizeof(ret->process.comm), p->comm);
	ret->command = p->command ? xstrdup(p->command) : NULL;
	if (ret->source < SOURCE_ROLLUP)
		return 0;
	error = latest_facts_read(r->latest, FACT_USAGE, keys, sample, values);
	if (error == 0)
		error = latest_facts_read(r->latest, FACT_USAGE_MORE, keys, sample, seldom);
	if (error == 0)
		facts_to_usage(values, seldom, ret);
	return error == -ENOENT ? -EBADMSG : error;
}

void recording_reader_scan(struct recording_reader *r, bool is_on)
{
	latest_facts_scan(r->latest, is_on);
	mapping_walks_release(&r->walks);
	r->is_scanning = is_on;
}

int recording_reader_read(struct recording_reader *r, size_t index, struct snapshot *ret)
{
	const struct recorded_sample *sample = &r->samples[index];
	int error = recording_find_processes(r, sample->session);

	snapshot_clear(ret);
	ret->unix_ms = sample->moment.unix_ms;
	ret->elapsed_ns = ret->taken_ns = sample->moment.elapsed_ns;
	ret->cost_ns = sample->moment.cost_ns;
	for (size_t i = 0; i < r->process_count && error == 0; i++) {
		struct usage usage;

		if (!recorded_process_is_there(&r->processes[i], sample->number))
			continue;
		usage_init(&usage);
		error = read_process(r, &r->processes[i], sample->number, &usage);
		if (error < 0) {
			usage_release(&usage);
			error = error == -ENOENT ? 0 : error;
			continue;
		}
		usage.taken_ns = ret->taken_ns;
		usage.read_ns = BYTES_UNKNOWN;
		ret->unreadable_count += usage.error != 0;
		*snapshot_add(ret) = usage;
	}
	return error;
}

/* One that went and came again has several. */
static int64_t find_row(const struct recording_reader *r, const struct process *process,
			int64_t sample)
{
	for (size_t i = 0; i < r->process_count; i++) {
		const struct recorded_process *p = &r->processes[i];

		if (p->pid == process->pid && p->start_ticks == process->start_ticks &&
		    strcmp(p->comm, process->comm) == 0 && recorded_process_is_there(p, sample))
			return p->row;
	}
	return 0;
}

static int add_mapping(struct recording_reader *r, const int64_t *keys, int64_t sample,
		       struct mapping_list *ret)
{
	int64_t values[FACT_VALUES_MAX], number;
	struct mapping m = { .start_addr = (uint64_t)keys[1] };
	_cleanup_free_ char *name = NULL;
	int error = latest_facts_read(r->latest, FACT_MAPPING, keys, sample, values);

	if (error < 0)
		return error == -ENOENT ? 0 : error;
	facts_to_mapping(values, &m, &number);
	if (m.end_addr <= m.start_addr)
		return -EBADMSG;
	name = recording_read_name(r->name, number);
	m.name = name;
	m.name_length = (uint32_t)strlen(name);
	mapping_list_add(ret, &m);
	return 0;
}

/*
 * From one to the next by the index: a mapping that changed a million times is as far away
 * as any. Returns 1, 0 at the end, or -errno.
 */
static int find_next_start(struct recording_reader *r, int64_t process, int64_t *start)
{
	int code;

	sqlite.bind_int64(r->starts, 1, process);
	sqlite.bind_int64(r->starts, 2, *start);
	code = sqlite.step(r->starts);
	if (code == SQLITE_ROW)
		*start = sqlite.column_int64(r->starts, 0);
	sqlite.reset(r->starts);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : recording_sql_errno(r->db);
}

int recording_reader_read_mappings(struct recording_reader *r, size_t index,
				   const struct process *process, struct mapping_list *ret)
{
	int64_t sample = r->samples[index].number, keys[FACT_KEYS_MAX] = { 0 };
	int error = recording_find_processes(r, r->samples[index].session);

	mapping_list_release(ret);
	keys[0] = find_row(r, process, sample);
	keys[1] = INT64_MIN;
	while (error == 0 && ret->count < MAPPINGS_MAX &&
	       (error = find_next_start(r, keys[0], &keys[1])) > 0)
		error = add_mapping(r, keys, sample, ret);
	if (error < 0)
		mapping_list_release(ret);
	return error;
}

bool recording_reader_is_scanning(const struct recording_reader *r)
{
	return r->is_scanning;
}

int recording_reader_scan_mappings(struct recording_reader *r, size_t index,
				   const struct process *process, const struct mapping_list **ret,
				   uint64_t *ret_version)
{
	int64_t key[] = { 0, r->samples[index].number };
	int error = recording_find_processes(r, r->samples[index].session);

	if (error < 0)
		return error;
	key[0] = find_row(r, process, key[1]);
	return mapping_walks_read(&r->walks, r->db, r->name, key, ret, ret_version);
}

int recording_reader_read_heap(struct recording_reader *r, size_t index,
			       const struct process *process, struct heap_sums *ret)
{
	int64_t sample = r->samples[index].number, values[FACT_VALUES_MAX];
	int error = recording_find_processes(r, r->samples[index].session);
	const int64_t keys[FACT_KEYS_MAX] = { error < 0 ? 0 : find_row(r, process, sample) };

	if (error == 0)
		error = latest_facts_read(r->latest, FACT_HEAP, keys, sample, values);
	if (error == 0 && !facts_to_heap(values, ret))
		return -EBADMSG;
	return error;
}

int recording_reader_for_each_peak(struct recording_reader *r,
				   int (*fn)(void *context, const struct process *process),
				   void *context)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(r, "SELECT pid,start_ticks,comm FROM process JOIN usage USING(process) "
			       "GROUP BY process ORDER BY max(rss_kb) DESC,process", &statement);

	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		struct process process = {
			.pid = (int)sqlite.column_int64(statement, 0),
			.start_ticks = (uint64_t)sqlite.column_int64(statement, 1),
		};
		_cleanup_free_ char *comm = recording_copy_text(statement, 2);

		text_copy(process.comm, sizeof(process.comm), comm);
		error = fn(context, &process);
	}
	sqlite.finalize(statement);
	return error;
}

int recording_reader_for_each_event(struct recording_reader *r,
				    int (*fn)(void *context, const struct recorded_event *event),
				    void *context)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(r, "SELECT unix_ms,kind,pid,text FROM event ORDER BY event", &statement);

	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		struct recorded_event event = {
			.unix_ms = (uint64_t)sqlite.column_int64(statement, 0),
			.kind = (const char *)sqlite.column_text(statement, 1),
			.text = (const char *)sqlite.column_text(statement, 3),
			.pid = (int)sqlite.column_int64(statement, 2),
		};

		error = fn(context, &event);
	}
	sqlite.finalize(statement);
	return error;
}

/* Earlier versions recorded no notes. */
static int has_notes(struct recording_reader *r, bool *ret)
{
	int64_t count;
	int error = recording_sql_number(
		r->db, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name='note'",
		&count);

	*ret = error == 0 && count > 0;
	return error;
}

int recording_reader_for_each_note(struct recording_reader *r,
				   int (*fn)(void *context, const struct recorded_note *note),
				   void *context)
{
	sqlite3_stmt *statement = NULL;
	bool is_there;
	int error = has_notes(r, &is_there);

	if (error < 0 || !is_there)
		return error;
	error = prepare(r, "SELECT pid,start_ticks,comm,kind,text FROM note JOIN process "
			   "USING(process) ORDER BY process,kind,text", &statement);
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		_cleanup_free_ char *comm = recording_copy_text(statement, 2);
		_cleanup_free_ char *kind = recording_copy_text(statement, 3);
		_cleanup_free_ char *text = recording_copy_text(statement, 4);
		struct recorded_note note = { .kind = kind, .text = text };

		note.process.pid = (int)sqlite.column_int64(statement, 0);
		note.process.start_ticks = (uint64_t)sqlite.column_int64(statement, 1);
		text_copy(note.process.comm, sizeof(note.process.comm), comm);
		error = fn(context, &note);
	}
	if (error == 0)
		error = recording_sql_errno(r->db);
	sqlite.finalize(statement);
	return error;
}
