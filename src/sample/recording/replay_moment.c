/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/replay_moment.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"

#define SAMPLES_MAX 1000

struct search {
	struct replay *replay;
	struct moment *moment;
	/* number of processes whose mappings are still missing */
	size_t missing_count;
};

/* Read the mappings of a process from the sample that contains them. */
static int read_mappings(struct search *s, size_t index, const struct usage *u,
			 struct moment_mappings *ret)
{
	int r = replay_read_mappings(s->replay, index, &u->process, &ret->list);

	if (r < 0)
		return r;
	moment_mappings_set(ret, u, replay_unix_ms(s->replay, index));
	return 0;
}

/* Read the mappings in this sample for processes whose mappings are still missing. */
static int search_sample(struct search *s, size_t index, const struct snapshot *snapshot)
{
	const struct snapshot *wanted = &s->moment->processes;
	int r = 0;

	for (size_t i = 0; i < wanted->count && r == 0; i++) {
		struct moment_mappings *mappings = &s->moment->mappings[i];
		const struct usage *u =
			snapshot_find(snapshot, wanted->usages[i].process.pid);

		if (mappings->read_unix_ms > 0 || !u || u->source != SOURCE_SMAPS ||
		    !process_is_same(&u->process, &wanted->usages[i].process))
			continue;
		r = read_mappings(s, index, u, mappings);
		s->missing_count--;
	}
	return r;
}

static int find_mappings(struct search *s, size_t index, const struct targets *targets)
{
	struct snapshot snapshot;
	int r = search_sample(s, index, &s->moment->processes);

	snapshot_init(&snapshot);
	for (size_t n = 0; r == 0 && s->missing_count > 0 && index > 0 && n < SAMPLES_MAX;
	     n++) {
		r = replay_read(s->replay, --index, targets, &snapshot);
		if (r == 0)
			r = search_sample(s, index, &snapshot);
	}
	snapshot_release(&snapshot);
	return r;
}

/*
 * Read the cgroup of the sample. A missing cgroup is not an error, because not every
 * recording contains a cgroup.
 */
static int read_group(struct replay *replay, size_t index, struct moment *moment)
{
	struct cgroup cgroup;
	int r;

	cgroup_init(&cgroup);
	r = replay_read_cgroup(replay, index, &cgroup);
	if (r == 0 && cgroup.level_count > 0)
		moment->group_path = xstrdup(cgroup.levels[0].path);
	if (r == 0)
		r = replay_read_figures(replay, index, &moment->group);
	moment->has_group = r == 0;
	cgroup_release(&cgroup);
	return r == -ENOENT ? 0 : r;
}

int replay_read_moment(struct replay *replay, size_t index, const struct targets *targets,
		       struct moment *ret)
{
	struct search search = { .replay = replay, .moment = ret };
	int r;

	moment_release(ret);
	r = replay_read(replay, index, targets, &ret->processes);
	ret->unix_ms = replay_unix_ms(replay, index);
	ret->mappings = xcalloc(ret->processes.count + 1, sizeof(*ret->mappings));
	for (size_t i = 0; i < ret->processes.count; i++)
		search.missing_count += ret->processes.usages[i].source >=
						SOURCE_ROLLUP &&
					ret->processes.usages[i].error == 0;
	if (r == 0)
		r = find_mappings(&search, index, targets);
	if (r == 0)
		r = read_group(replay, index, ret);
	if (r < 0)
		moment_release(ret);
	return r;
}
