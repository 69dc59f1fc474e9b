/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/recording/facts.h"
#include "store/recording/reader.h"

#define SAMPLES_MAX 10000000
#define MAPPINGS_MAX 1000000

/* Minimum size in bytes of a row of the process table, without its strings. */
#define PROCESS_ROW_BYTES 4

static int prepare_all(struct recording_reader *r)
{
	int error = latest_facts_open(r->db, &r->tables, &r->latest);

	if (error == 0)
		error = recording_prepare(
			r,
			"SELECT start FROM mapping WHERE process=? AND start>? "
			"ORDER BY start LIMIT 1",
			&r->starts);
	if (error == 0)
		error = recording_prepare(r, "SELECT name,text FROM name WHERE name=?",
					  &r->name);
	if (error == 0)
		error = recording_prepare(
			r,
			"SELECT cgroup,session,version,is_cut,paths,runtime,container_id,"
			"container,pod_uid,pod,namespace,qos,unit FROM cgroup "
			"WHERE session=? AND EXISTS(SELECT 1 FROM cgroup_level AS l "
			"WHERE l.cgroup=cgroup.cgroup AND level=0 AND sample<=?) "
			"ORDER BY cgroup DESC LIMIT 1",
			&r->group);
	return error;
}

/*
 * Add a sample to the reader's list. Sample numbers must increase. Elapsed times must not
 * decrease within a session.
 */
static int add_sample(struct recording_reader *r, sqlite3_stmt *statement)
{
	uint64_t elapsed_us = (uint64_t)sqlite.column_int64(statement, 3);
	uint64_t cost_us = (uint64_t)sqlite.column_int64(statement, 4);
	struct recorded_sample sample = {
		.number = sqlite.column_int64(statement, 0),
		.session = sqlite.column_int64(statement, 1),
		.moment = {
			.unix_ms = (uint64_t)sqlite.column_int64(statement, 2),
			.elapsed_ns = elapsed_us * NS_PER_US,
			.cost_ns = cost_us * NS_PER_US,
		},
	};
	const struct recorded_sample *last = r->count > 0 ? &r->samples[r->count - 1]
							  : NULL;

	if (r->count >= SAMPLES_MAX)
		return recording_damaged("it has more than %d samples", SAMPLES_MAX);
	if (last && (sample.number <= last->number || sample.session < last->session ||
		     (sample.session == last->session &&
		      sample.moment.elapsed_ns < last->moment.elapsed_ns)))
		return recording_damaged("its samples are not in order");
	r->samples = xgrow(r->samples, &r->capacity, r->count + 1, sizeof(*r->samples));
	r->samples[r->count++] = sample;
	return 0;
}

static int read_samples(struct recording_reader *r)
{
	sqlite3_stmt *statement = NULL;
	int error = recording_prepare(
		r,
		"SELECT sample,session,unix_ms,elapsed_us,cost_us FROM sample "
		"ORDER BY sample",
		&statement);

	if (error < 0)
		return error;
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW) {
		error = recording_schema_check_row(statement, 0, TABLE_SAMPLE);
		if (error == 0)
			error = add_sample(r, statement);
	}
	error = recording_finish(r, statement, error);
	return error == 0 && r->count == 0 ? -ENODATA : error;
}

int recording_reader_open(const char *path, struct recording_reader **ret)
{
	struct recording_reader *r;
	int error;

	if (!recording_sql_load())
		return -EOPNOTSUPP;
	r = xcalloc(1, sizeof(*r));
	error = recording_reader_connect(r, path);
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
	r->process_bytes = 0;
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
	recording_reader_remove_log(r);
	recording_file_close(r->file);
	free(r->tidy_path);
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

	return text ? xstrndup(text, (size_t)sqlite.column_bytes(statement, column))
		    : xstrdup("");
}

/*
 * Add a process from a row of a query: the columns of the process table, and the numbers
 * of the first sample with this process and name, and of the next without it (or NULL).
 */
static int add_process(struct recording_reader *r, sqlite3_stmt *statement)
{
	struct recorded_process *p;
	int64_t samples[2] = { FACT_UNKNOWN, FACT_UNKNOWN };
	int error = recording_schema_check_row(statement, 0, TABLE_PROCESS);

	if (error == 0)
		error = recording_schema_read_numbers(statement, 6, 2, samples);
	if (error < 0)
		return error;
	/*
	 * a damaged index may return the same row endlessly, so stop when the total size
	 * of the rows exceeds that of the file
	 */
	r->process_bytes += PROCESS_ROW_BYTES +
			    (uint64_t)sqlite.column_bytes(statement, 4) +
			    (uint64_t)sqlite.column_bytes(statement, 5);
	if (r->process_bytes > r->guard.bytes)
		return recording_damaged("it has more processes than its size allows");
	r->processes = xgrow(r->processes, &r->process_capacity, r->process_count + 1,
			     sizeof(*r->processes));
	p = &r->processes[r->process_count++];
	p->row = sqlite.column_int64(statement, 0);
	p->pid = (int)sqlite.column_int64(statement, 2);
	p->start_ticks = (uint64_t)sqlite.column_int64(statement, 3);
	p->comm = recording_copy_text(statement, 4);
	p->command = sqlite.column_type(statement, 5) == SQLITE_NULL
			     ? NULL
			     : recording_copy_text(statement, 5);
	p->first = samples[0] == FACT_UNKNOWN ? INT64_MAX : samples[0];
	p->end = samples[1] == FACT_UNKNOWN ? INT64_MAX : samples[1];
	return 0;
}

int recording_find_processes(struct recording_reader *r, int64_t session)
{
	sqlite3_stmt *statement = NULL;
	int error;

	if (r->process_count > 0 && r->session == session)
		return 0;
	forget_processes(r);
	recording_guard_resize(&r->guard, r->file);
	error = recording_prepare(
		r,
		"SELECT process,session,pid,start_ticks,comm,command,"
		"(SELECT min(sample) FROM state WHERE state.process=p.process),"
		"(SELECT CASE WHEN ppid IS NULL THEN sample END FROM state"
		" WHERE state.process=p.process ORDER BY sample DESC LIMIT 1)"
		"FROM process AS p WHERE session=? ORDER BY pid,process",
		&statement);
	if (error < 0)
		return error;
	sqlite.bind_int64(statement, 1, session);
	while (error == 0 && sqlite.step(statement) == SQLITE_ROW)
		error = add_process(r, statement);
	error = recording_finish(r, statement, error);
	if (error < 0)
		forget_processes(r);
	r->session = session;
	return error;
}

/*
 * Read the identity and the usage of a process in a sample. Return 0, -ENOENT if the
 * process was not in the sample, or another -errno.
 */
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
		error = latest_facts_read(r->latest, FACT_USAGE_MORE, keys, sample,
					  seldom);
	if (error == 0)
		facts_to_usage(values, seldom, ret);
	return error == -ENOENT ? recording_damaged("a process has no figures") : error;
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
		recording_guard_reset(&r->guard);
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

/* Return the index of the first process whose pid is at least the given pid. */
static size_t find_pid(const struct recording_reader *r, int pid)
{
	return SEARCH_FIRST(r->process_count, i, r->processes[i].pid >= pid);
}

/*
 * Return the row number of a process in a sample, or 0 if the process is not in the
 * sample. A process that was missing from some samples has several rows.
 */
static int64_t find_row(const struct recording_reader *r, const struct process *process,
			int64_t sample)
{
	for (size_t i = find_pid(r, process->pid);
	     i < r->process_count && r->processes[i].pid == process->pid; i++) {
		const struct recorded_process *p = &r->processes[i];

		if (p->start_ticks == process->start_ticks &&
		    strcmp(p->comm, process->comm) == 0 &&
		    recorded_process_is_there(p, sample))
			return p->row;
	}
	return 0;
}

static int add_mapping(struct recording_reader *r, const int64_t *keys, int64_t sample,
		       struct mapping_list *ret, uint64_t *name_bytes)
{
	int64_t values[FACT_VALUES_MAX], number;
	struct mapping m = { .start_addr = (uint64_t)keys[1] };
	_cleanup_free_ char *name = NULL;
	int error = latest_facts_read(r->latest, FACT_MAPPING, keys, sample, values);

	if (error < 0)
		return error == -ENOENT ? 0 : error;
	facts_to_mapping(values, &m, &number);
	if (m.end_addr <= m.start_addr)
		return recording_damaged("a mapping's range is invalid");
	error = recording_read_name(r->name, number, &name);
	if (error == 0)
		error = recording_add_name_bytes(name_bytes, strlen(name));
	if (error < 0)
		return error;
	m.name = name;
	m.name_length = (uint32_t)strlen(name);
	mapping_list_add(ret, &m);
	return 0;
}

/*
 * Find the next start address of a process's mappings through an index, so that the time
 * does not depend on the number of rows per mapping. Return 1, 0 if there are no more
 * addresses, or -errno.
 */
static int find_next_start(struct recording_reader *r, int64_t process, int64_t *start)
{
	int code;

	sqlite.bind_int64(r->starts, 1, process);
	sqlite.bind_int64(r->starts, 2, *start);
	code = sqlite.step(r->starts);
	if (code == SQLITE_ROW && sqlite.column_int64(r->starts, 0) <= *start) {
		sqlite.reset(r->starts);
		return recording_damaged("its mappings are not in order");
	}
	if (code == SQLITE_ROW)
		*start = sqlite.column_int64(r->starts, 0);
	sqlite.reset(r->starts);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : recording_sql_errno(r->db);
}

int recording_reader_read_mappings(struct recording_reader *r, size_t index,
				   const struct process *process,
				   struct mapping_list *ret)
{
	int64_t sample = r->samples[index].number, keys[FACT_KEYS_MAX] = { 0 };
	uint64_t name_bytes = 0;
	int error = recording_find_processes(r, r->samples[index].session);

	mapping_list_release(ret);
	keys[0] = find_row(r, process, sample);
	keys[1] = INT64_MIN;
	while (error == 0 && ret->count < MAPPINGS_MAX) {
		recording_guard_reset(&r->guard);
		error = find_next_start(r, keys[0], &keys[1]);
		if (error <= 0)
			break;
		error = add_mapping(r, keys, sample, ret, &name_bytes);
	}
	if (error < 0)
		mapping_list_release(ret);
	return error;
}

bool recording_reader_is_scanning(const struct recording_reader *r)
{
	return r->is_scanning;
}

int recording_reader_scan_mappings(struct recording_reader *r, size_t index,
				   const struct process *process,
				   const struct mapping_list **ret, uint64_t *ret_version)
{
	int64_t key[] = { 0, r->samples[index].number };
	int error = recording_find_processes(r, r->samples[index].session);

	if (error < 0)
		return error;
	key[0] = find_row(r, process, key[1]);
	recording_guard_reset(&r->guard);
	return mapping_walks_read(&r->walks, r->db, r->name, key, ret, ret_version);
}

static int read_heap_parts(struct recording_reader *r, int64_t process, int64_t sample,
			   struct heap_sums *ret)
{
	int64_t values[FACT_VALUES_MAX], keys[FACT_KEYS_MAX] = { process };

	for (int a = 1; r->tables.has_heap_parts && a < ALLOCATOR_COUNT_; a++) {
		int error;

		keys[1] = a;
		error = latest_facts_read(r->latest, FACT_HEAP_PART, keys, sample,
					  values);
		if (error == -ENOENT)
			continue;
		if (error == 0 && (ret->heap_count == USAGE_HEAP_MAX ||
				   !facts_to_heap_part(values, (enum allocator)a,
						       &ret->heaps[ret->heap_count++])))
			error = recording_damaged("a heap is out of range");
		if (error < 0)
			return error;
	}
	return 0;
}

int recording_reader_read_heap(struct recording_reader *r, size_t index,
			       const struct process *process, struct heap_sums *ret)
{
	int64_t sample = r->samples[index].number, values[FACT_VALUES_MAX];
	int error = recording_find_processes(r, r->samples[index].session);
	const int64_t keys[FACT_KEYS_MAX] = { error < 0 ? 0
							: find_row(r, process, sample) };

	recording_guard_reset(&r->guard);
	if (error == 0)
		error = latest_facts_read(r->latest, FACT_HEAP, keys, sample, values);
	if (error == 0 && !facts_to_heap(values, ret))
		return recording_damaged("the figures of a heap are out of range");
	return error < 0 ? error : read_heap_parts(r, keys[0], sample, ret);
}

/* Return the last sample at or before `last` with a wanted process, or -1. */
static int64_t find_last_number(const struct recording_reader *r, int64_t last,
				bool (*is_wanted)(const void *context,
						  const struct process *process,
						  const char *command),
				const void *context)
{
	int64_t found = -1;

	for (size_t i = 0; i < r->process_count; i++) {
		const struct recorded_process *p = &r->processes[i];
		struct process process = { .pid = p->pid, .start_ticks = p->start_ticks };
		int64_t number = p->end <= last ? p->end - 1 : last;

		text_copy(process.comm, sizeof(process.comm), p->comm);
		if (p->first <= number && number > found &&
		    is_wanted(context, &process, p->command))
			found = number;
	}
	return found;
}

int recording_reader_find_last(struct recording_reader *r,
			       bool (*is_wanted)(const void *context,
						 const struct process *process,
						 const char *command),
			       const void *context, size_t *index)
{
	size_t i = *index + 1;

	while (i > 0) {
		int64_t session = r->samples[i - 1].session, number;
		int error = recording_find_processes(r, session);

		if (error < 0)
			return error;
		number =
			find_last_number(r, r->samples[i - 1].number, is_wanted, context);
		for (; i > 0 && r->samples[i - 1].session == session; i--)
			if (r->samples[i - 1].number <= number) {
				*index = i - 1;
				return 0;
			}
	}
	return -ENOENT;
}
