/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "store/recording/facts.h"
#include "store/recording/write.h"

/*
 * Return the cgroup's paths and names as one string: "path\npath\n\nname\n…". The cgroup
 * needs a new row only if this string has changed.
 */
static char *make_key(const struct cgroup *c, const char *paths)
{
	struct strbuf key = STRBUF_INIT;

	strbuf_add_text(&key, paths);
	for (size_t i = 0; i < CGROUP_NAME_COUNT_; i++)
		strbuf_addf(&key, "\n%s", c->names[i] ? c->names[i] : "");
	return strbuf_take(&key);
}

/* Add a row for the cgroup, unless the last row contains the same paths and names. */
static int find_or_add_cgroup(struct recording *r, const struct cgroup *c)
{
	sqlite3_stmt *statement = r->statements[STATEMENT_CGROUP];
	const int64_t numbers[] = { r->session, (int64_t)c->version, c->is_cut };
	_cleanup_strbuf_ struct strbuf paths = STRBUF_INIT;
	char *key;
	int error;

	for (size_t i = 0; i < c->level_count; i++)
		strbuf_addf(&paths, "%s\n", c->levels[i].path);
	key = make_key(c, strbuf_text(&paths));
	if (r->cgroup_key && strcmp(r->cgroup_key, key) == 0) {
		free(key);
		return 0;
	}
	free(r->cgroup_key);
	r->cgroup_key = key;
	recording_bind_numbers(statement, 1, numbers, 3);
	recording_bind_text(statement, 4, strbuf_text(&paths));
	for (size_t i = 0; i < CGROUP_NAME_COUNT_; i++)
		recording_bind_text(statement, 5 + (int)i, c->names[i]);
	error = recording_run(r, STATEMENT_CGROUP);
	r->cgroup_row = sqlite.last_insert_rowid(r->db);
	return error;
}

int recording_add_cgroup(struct recording *r, const struct cgroup *c)
{
	int64_t values[FACT_VALUES_MAX];
	int64_t keys[FACT_KEYS_MAX] = { 0 };
	int error = find_or_add_cgroup(r, c);

	keys[0] = r->cgroup_row;
	for (size_t i = 0; i < c->level_count && error == 0; i++) {
		keys[1] = (int64_t)i;
		facts_from_level(&c->levels[i], values);
		error = recording_add_fact(r, FACT_GROUP, keys, values);
		if (error < 0 || (i > 0 && i != c->tightest))
			continue;
		facts_from_stat(i == 0 ? &c->stat : &c->limit_stat, values);
		error = recording_add_fact(r, FACT_GROUP_STAT, keys, values);
	}
	if (error == 0) {
		facts_from_group(c, values);
		error = recording_add_fact(r, FACT_GROUP_MORE, keys, values);
	}
	return error < 0 ? recording_roll_back(r, error) : 0;
}
