/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/recording/facts.h"
#include "store/recording/reader.h"

#define LEVELS_MAX 64

/*
 * Set the levels of a cgroup from a list of their paths, "path\npath\n", which begins
 * with the cgroup itself and ends with the root.
 */
static void set_levels(struct cgroup *cgroup, char *paths)
{
	char *path;

	while ((path = strsep(&paths, "\n")) && path[0] != '\0' &&
	       cgroup->level_count < LEVELS_MAX) {
		cgroup->levels = realloc(cgroup->levels, (cgroup->level_count + 1) *
								 sizeof(*cgroup->levels));
		if (!cgroup->levels)
			xalloc_exhausted();
		memset(&cgroup->levels[cgroup->level_count], 0xff,
		       sizeof(*cgroup->levels));
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
		int error =
			latest_facts_read(r->latest, FACT_GROUP, keys, sample, values);

		if (error < 0)
			return error == -ENOENT
				       ? recording_damaged("a cgroup has no figures")
				       : error;
		facts_to_level(values, &ret->levels[i]);
		if (ret->levels[i].limit_bytes < tightest) {
			tightest = ret->levels[i].limit_bytes;
			ret->tightest = i;
		}
	}
	return 0;
}

static int read_stat(struct recording_reader *r, int64_t group, size_t level,
		     int64_t sample, struct cgroup_stat *ret)
{
	const int64_t keys[FACT_KEYS_MAX] = { group, (int64_t)level };
	int64_t values[FACT_VALUES_MAX];
	int error = latest_facts_read(r->latest, FACT_GROUP_STAT, keys, sample, values);

	if (error == 0)
		facts_to_stat(values, ret);
	return error == -ENOENT ? 0 : error;
}

/*
 * Add the pids of all processes in the sample. In a sample with a cgroup, all processes
 * belong to it.
 */
static int add_pids(struct recording_reader *r, const struct recorded_sample *sample,
		    struct cgroup *ret)
{
	int error = recording_find_processes(r, sample->session);

	for (size_t i = 0; i < r->process_count && error == 0; i++) {
		if (!recorded_process_is_there(&r->processes[i], sample->number))
			continue;
		ret->pids = xgrow(ret->pids, &ret->pid_capacity, ret->pid_count + 1,
				  sizeof(*ret->pids));
		ret->pids[ret->pid_count++] = r->processes[i].pid;
	}
	return error;
}

static int read_amounts(struct recording_reader *r, int64_t group,
			const struct recorded_sample *sample, struct cgroup *ret)
{
	const int64_t keys[FACT_KEYS_MAX] = { group };
	int64_t values[FACT_VALUES_MAX];
	int error = read_levels(r, group, sample->number, ret);

	if (error == 0)
		error = read_stat(r, group, 0, sample->number, &ret->stat);
	ret->limit_stat = ret->stat;
	if (error == 0 && ret->tightest != SIZE_MAX && ret->tightest > 0)
		error = read_stat(r, group, ret->tightest, sample->number,
				  &ret->limit_stat);
	if (error == 0)
		error = latest_facts_read(r->latest, FACT_GROUP_MORE, keys,
					  sample->number, values);
	if (error == 0)
		facts_to_group(values, ret);
	return error == -ENOENT ? recording_damaged("a cgroup has no figures") : error;
}

/*
 * Find the row number of a sample's cgroup. Return 0, -ENOENT if the sample has no
 * cgroup, or another -errno.
 */
static int find_group(struct recording_reader *r, const struct recorded_sample *sample,
		      int64_t *ret_row, struct cgroup *ret)
{
	_cleanup_free_ char *paths = NULL;
	int code, error;

	sqlite.bind_int64(r->group, 1, sample->session);
	sqlite.bind_int64(r->group, 2, sample->number);
	code = sqlite.step(r->group);
	if (code != SQLITE_ROW) {
		error = code == SQLITE_DONE ? -ENOENT : recording_sql_errno(r->db);
		sqlite.reset(r->group);
		return error;
	}
	error = recording_schema_check_row(r->group, 0, TABLE_CGROUP);
	if (error < 0) {
		sqlite.reset(r->group);
		return error;
	}
	*ret_row = sqlite.column_int64(r->group, 0);
	ret->version = sqlite.column_int64(r->group, 2) == CGROUP_V1 ? CGROUP_V1
								     : CGROUP_V2;
	ret->is_cut = sqlite.column_int64(r->group, 3) != 0;
	paths = recording_copy_text(r->group, 4);
	for (int i = 0; i < CGROUP_NAME_COUNT_; i++)
		if (sqlite.column_type(r->group, 5 + i) != SQLITE_NULL)
			ret->names[i] = recording_copy_text(r->group, 5 + i);
	sqlite.reset(r->group);
	set_levels(ret, paths);
	return ret->level_count > 0 ? 0 : recording_damaged("a cgroup has no path");
}

int recording_reader_read_cgroup(struct recording_reader *r, size_t index,
				 struct cgroup *ret)
{
	const struct recorded_sample *sample = &r->samples[index];
	struct cgroup cgroup;
	int64_t group = 0;
	int error;

	cgroup_init(&cgroup);
	cgroup.unix_ms = sample->moment.unix_ms;
	cgroup.taken_ns = sample->moment.elapsed_ns;
	recording_guard_reset(&r->guard);
	error = find_group(r, sample, &group, &cgroup);
	if (error == 0)
		error = read_amounts(r, group, sample, &cgroup);
	if (error == 0)
		error = add_pids(r, sample, &cgroup);
	if (error < 0) {
		cgroup_release(&cgroup);
		return error;
	}
	cgroup_release(ret);
	*ret = cgroup;
	return 0;
}
