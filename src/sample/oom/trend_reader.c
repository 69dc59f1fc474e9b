/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/trend_reader.h"

#include <errno.h>

/* Maximum number of recorded samples to read. A sample with 15 processes takes 34 µs. */
#define PAST_MAX 10000

#define NEEDS (NEED_STAT | NEED_ROLLUP | NEED_STATES)

void trend_reader_init(struct trend_reader *reader)
{
	reader->trends = trends_new();
	snapshot_init(&reader->processes);
	cgroup_init(&reader->cgroup);
	reader->has_group = false;
}

void trend_reader_release(struct trend_reader *reader)
{
	trends_free(reader->trends);
	snapshot_release(&reader->processes);
	cgroup_release(&reader->cgroup);
}

static void add_sample(struct trend_reader *reader, uint64_t time_ns, bool with_group)
{
	struct trends_sample sample = { .time_ns = time_ns,
					.processes = &reader->processes };
	struct oom_figures figures;

	if (with_group) {
		reader->has_group = true;
		oom_figures_find(&reader->cgroup, &reader->processes, &figures);
		sample.cgroup = &reader->cgroup;
		sample.figures = &figures;
	}
	trends_add(reader->trends, &sample);
}

int trend_reader_take(struct trend_reader *reader, struct cgroup_sampler *sampler)
{
	int r = cgroup_sampler_take(sampler, NEEDS, &reader->cgroup, &reader->processes);

	if (r == 0)
		add_sample(reader, reader->cgroup.taken_ns, true);
	return r;
}

int trend_reader_add(struct trend_reader *reader, struct replay *replay, size_t index,
		     const struct targets *targets)
{
	int r = replay_read(replay, index, targets, &reader->processes);

	if (r < 0)
		return r;
	r = targets_are_all(targets) ? replay_read_cgroup(replay, index, &reader->cgroup)
				     : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	add_sample(reader, reader->processes.elapsed_ns, r == 0);
	return 0;
}

int trend_reader_add_past(struct trend_reader *reader, struct replay *replay, size_t last,
			  const struct targets *targets)
{
	int r = 0;

	replay_scan(replay, true);
	for (size_t i = last < PAST_MAX ? 0 : last - PAST_MAX + 1; i <= last && r == 0;
	     i++)
		r = trend_reader_add(reader, replay, i, targets);
	replay_scan(replay, false);
	return r;
}
