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
#include "store/recording_sql.h"

#define BUSY_MS	     5000
#define SAMPLES_MAX  10000000
#define LEVELS_MAX   64
#define MAPPINGS_MAX 1000000

struct recording_reader {
	sqlite3 *db;
	struct recorded_sample *samples;
	size_t count, capacity;
	sqlite3_stmt *latest[FACT_TABLE_COUNT_]; /* the row of a key as of a sample */
	sqlite3_stmt *processes, *starts, *name, *group;
};

static int prepare(struct recording_reader *r, const char *sql, sqlite3_stmt **ret)
{
	return sqlite.prepare_v2(r->db, sql, -1, ret, NULL) == SQLITE_OK
		       ? 0
		       : recording_sql_errno(r->db);
}

/* "SELECT rss_kb,… FROM usage WHERE process=? AND sample<=? ORDER BY sample DESC LIMIT 1" */
static int prepare_latest(struct recording_reader *r, enum fact_table table)
{
	const struct fact_table_info *info = &fact_tables[table];
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;

	strbuf_add_text(&sql, "SELECT ");
	for (size_t i = 0; i < info->value_count; i++)
		strbuf_addf(&sql, "%s%s", i ? "," : "", info->values[i]);
	strbuf_addf(&sql, " FROM %s WHERE ", info->name);
	for (size_t i = 0; i < info->key_count; i++)
		strbuf_addf(&sql, "%s=? AND ", info->keys[i]);
	strbuf_add_text(&sql, "sample<=? ORDER BY sample DESC LIMIT 1");
	return prepare(r, sql.text, &r->latest[table]);
}

static int prepare_all(struct recording_reader *r)
{
	int error = 0;

	for (int t = 0; t < FACT_TABLE_COUNT_ && error == 0; t++)
		error = prepare_latest(r, (enum fact_table)t);
	if (error == 0)
		error = prepare(r, "SELECT process,pid,start_ticks,comm,command FROM process "
				   "WHERE session=? ORDER BY pid,process", &r->processes);
	if (error == 0)
		error = prepare(r, "SELECT DISTINCT start FROM mapping WHERE process=? AND sample<=? "
				   "ORDER BY start", &r->starts);
	if (error == 0)
		error = prepare(r, "SELECT text FROM name WHERE name=?", &r->name);
	if (error == 0)
		error = prepare(r, "SELECT cgroup.cgroup,version,is_cut,paths FROM cgroup "
				   "JOIN cgroup_level USING(cgroup) "
				   "WHERE level=0 AND session=? AND sample<=? "
				   "ORDER BY cgroup.cgroup DESC LIMIT 1", &r->group);
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
	if (error == -EBADMSG || (error == 0 && id != RECORDING_APPLICATION_ID))
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

void recording_reader_close(struct recording_reader *r)
{
	if (!r)
		return;
	for (int t = 0; t < FACT_TABLE_COUNT_; t++)
		sqlite.finalize(r->latest[t]);
	sqlite.finalize(r->processes);
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

/*
 * What was true of a key in a sample. Returns 0, -ENOENT if there was nothing, or -errno.
 */
static int read_latest(struct recording_reader *r, enum fact_table table,
		       const int64_t keys[FACT_KEYS_MAX], int64_t sample, int64_t *ret)
{
	const struct fact_table_info *info = &fact_tables[table];
	sqlite3_stmt *statement = r->latest[table];
	int error = -ENOENT, code;

	for (size_t i = 0; i < FACT_KEYS_MAX && i < info->key_count; i++)
		sqlite.bind_int64(statement, (int)i + 1, keys[i]);
	sqlite.bind_int64(statement, (int)info->key_count + 1, sample);
	code = sqlite.step(statement);
	if (code == SQLITE_ROW && sqlite.column_type(statement, 0) != SQLITE_NULL) {
		for (int i = 0; i < (int)info->value_count; i++)
			ret[i] = sqlite.column_type(statement, i) == SQLITE_NULL
					 ? FACT_UNKNOWN
					 : sqlite.column_int64(statement, i);
		error = 0;
	} else if (code != SQLITE_ROW && code != SQLITE_DONE) {
		error = recording_sql_errno(r->db);
	}
	sqlite.reset(statement);
	return error;
}

/* Text that may hold anything, up to the first NUL. The caller frees it. */
static char *copy_text(sqlite3_stmt *statement, int column)
{
	const char *text = sqlite.column_blob(statement, column);

	return text ? xstrndup(text, (size_t)sqlite.column_bytes(statement, column)) : xstrdup("");
}

/* Of the row that the statement stands on: who it is, and what it had. -ENOENT: it was not there. */
static int read_process(struct recording_reader *r, int64_t sample, struct usage *ret)
{
	const int64_t keys[FACT_KEYS_MAX] = { sqlite.column_int64(r->processes, 0) };
	int64_t values[FACT_VALUES_MAX], seldom[FACT_VALUES_MAX];
	_cleanup_free_ char *comm = NULL;
	int error = read_latest(r, FACT_STATE, keys, sample, values);

	if (error < 0)
		return error;
	facts_to_state(values, ret);
	ret->process.pid = (int)sqlite.column_int64(r->processes, 1);
	ret->process.start_ticks = (uint64_t)sqlite.column_int64(r->processes, 2);
	comm = copy_text(r->processes, 3);
	text_copy(ret->process.comm, sizeof(ret->process.comm), comm);
	if (sqlite.column_type(r->processes, 4) != SQLITE_NULL)
		ret->command = copy_text(r->processes, 4);
	if (ret->source < SOURCE_ROLLUP)
		return 0;
	error = read_latest(r, FACT_USAGE, keys, sample, values);
	if (error == 0)
		error = read_latest(r, FACT_USAGE_MORE, keys, sample, seldom);
	if (error == 0)
		facts_to_usage(values, seldom, ret);
	return error == -ENOENT ? -EBADMSG : error;
}

int recording_reader_read(struct recording_reader *r, size_t index, struct snapshot *ret)
{
	const struct recorded_sample *sample = &r->samples[index];
	int error = 0;

	snapshot_clear(ret);
	ret->unix_ms = sample->moment.unix_ms;
	ret->elapsed_ns = ret->taken_ns = sample->moment.elapsed_ns;
	ret->cost_ns = sample->moment.cost_ns;
	sqlite.bind_int64(r->processes, 1, sample->session);
	while (error == 0 && sqlite.step(r->processes) == SQLITE_ROW) {
		struct usage usage;

		usage_init(&usage);
		error = read_process(r, sample->number, &usage);
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
	if (error == 0)
		error = recording_sql_errno(r->db);
	sqlite.reset(r->processes);
	return error;
}

static int64_t find_row(struct recording_reader *r, int64_t session, const struct process *process)
{
	int64_t row = 0;

	sqlite.bind_int64(r->processes, 1, session);
	while (row == 0 && sqlite.step(r->processes) == SQLITE_ROW) {
		_cleanup_free_ char *comm = copy_text(r->processes, 3);

		if (sqlite.column_int64(r->processes, 1) == process->pid &&
		    (uint64_t)sqlite.column_int64(r->processes, 2) == process->start_ticks &&
		    strcmp(comm, process->comm) == 0)
			row = sqlite.column_int64(r->processes, 0);
	}
	sqlite.reset(r->processes);
	return row;
}

static char *read_name(struct recording_reader *r, int64_t number)
{
	char *name;

	sqlite.bind_int64(r->name, 1, number);
	name = sqlite.step(r->name) == SQLITE_ROW ? copy_text(r->name, 0) : xstrdup("");
	sqlite.reset(r->name);
	return name;
}

static int add_mapping(struct recording_reader *r, const int64_t *keys, int64_t sample,
		       struct mapping_list *ret)
{
	int64_t values[FACT_VALUES_MAX], number;
	struct mapping m = { .start_addr = (uint64_t)keys[1] };
	_cleanup_free_ char *name = NULL;
	int error = read_latest(r, FACT_MAPPING, keys, sample, values);

	if (error < 0)
		return error == -ENOENT ? 0 : error;
	facts_to_mapping(values, &m, &number);
	if (m.end_addr <= m.start_addr)
		return -EBADMSG;
	name = read_name(r, number);
	m.name = name;
	m.name_length = (uint32_t)strlen(name);
	mapping_list_add(ret, &m);
	return 0;
}

int recording_reader_read_mappings(struct recording_reader *r, size_t index,
				   const struct process *process, struct mapping_list *ret)
{
	int64_t sample = r->samples[index].number, keys[FACT_KEYS_MAX] = { 0 };
	int error = 0;

	mapping_list_release(ret);
	keys[0] = find_row(r, r->samples[index].session, process);
	sqlite.bind_int64(r->starts, 1, keys[0]);
	sqlite.bind_int64(r->starts, 2, sample);
	while (error == 0 && ret->count < MAPPINGS_MAX && sqlite.step(r->starts) == SQLITE_ROW) {
		keys[1] = sqlite.column_int64(r->starts, 0);
		error = add_mapping(r, keys, sample, ret);
	}
	sqlite.reset(r->starts);
	if (error < 0)
		mapping_list_release(ret);
	return error;
}

/* "path\npath\n", from the group to the root */
static void set_levels(struct cgroup *cgroup, char *paths)
{
	char *path;

	while ((path = strsep(&paths, "\n")) && path[0] != '\0' && cgroup->level_count < LEVELS_MAX) {
		cgroup->levels = realloc(cgroup->levels,
					 (cgroup->level_count + 1) * sizeof(*cgroup->levels));
		if (!cgroup->levels)
			xalloc_exhausted();
		memset(&cgroup->levels[cgroup->level_count], 0xff, sizeof(*cgroup->levels));
		cgroup->levels[cgroup->level_count++].path = xstrdup(path);
	}
}

static int read_levels(struct recording_reader *r, int64_t group, int64_t sample,
		       struct cgroup *ret)
{
	uint64_t tightest = CGROUP_NO_LIMIT;
	int64_t values[FACT_VALUES_MAX];

	for (size_t i = 0; i < ret->level_count; i++) {
		const int64_t keys[FACT_KEYS_MAX] = { group, (int64_t)i };
		int error = read_latest(r, FACT_GROUP, keys, sample, values);

		if (error < 0)
			return error == -ENOENT ? -EBADMSG : error;
		facts_to_level(values, &ret->levels[i]);
		if (ret->levels[i].limit_bytes < tightest) {
			tightest = ret->levels[i].limit_bytes;
			ret->tightest = i;
		}
	}
	return 0;
}

static int read_stat(struct recording_reader *r, int64_t group, size_t level, int64_t sample,
		     struct cgroup_stat *ret)
{
	const int64_t keys[FACT_KEYS_MAX] = { group, (int64_t)level };
	int64_t values[FACT_VALUES_MAX];
	int error = read_latest(r, FACT_GROUP_STAT, keys, sample, values);

	if (error == 0)
		facts_to_stat(values, ret);
	return error == -ENOENT ? 0 : error;
}

int recording_reader_read_cgroup(struct recording_reader *r, size_t index, struct cgroup *ret)
{
	const struct recorded_sample *sample = &r->samples[index];
	_cleanup_free_ char *paths = NULL;
	struct cgroup cgroup;
	int64_t group;
	int error;

	sqlite.bind_int64(r->group, 1, sample->session);
	sqlite.bind_int64(r->group, 2, sample->number);
	if (sqlite.step(r->group) != SQLITE_ROW) {
		sqlite.reset(r->group);
		return -ENOENT;
	}
	cgroup_init(&cgroup);
	group = sqlite.column_int64(r->group, 0);
	cgroup.version = sqlite.column_int64(r->group, 1) == CGROUP_V1 ? CGROUP_V1 : CGROUP_V2;
	cgroup.is_cut = sqlite.column_int64(r->group, 2) != 0;
	paths = copy_text(r->group, 3);
	sqlite.reset(r->group);
	set_levels(&cgroup, paths);
	cgroup.unix_ms = sample->moment.unix_ms;
	cgroup.taken_ns = sample->moment.elapsed_ns;
	error = cgroup.level_count > 0 ? read_levels(r, group, sample->number, &cgroup) : -EBADMSG;
	if (error == 0)
		error = read_stat(r, group, 0, sample->number, &cgroup.stat);
	cgroup.limit_stat = cgroup.stat;
	if (error == 0 && cgroup.tightest != SIZE_MAX && cgroup.tightest > 0)
		error = read_stat(r, group, cgroup.tightest, sample->number, &cgroup.limit_stat);
	if (error < 0) {
		cgroup_release(&cgroup);
		return error;
	}
	cgroup_release(ret);
	*ret = cgroup;
	return 0;
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
