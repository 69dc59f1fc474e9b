/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight_counts.h"

#include "base/units.h"
#include "proc/system/vmstat.h"

void flight_counts_begin(struct flight_counts *c, const struct procfs *fs)
{
	c->machine_first = c->machine_sample = proc_vmstat_oom_kills(fs);
}

void flight_counts_add(struct flight_counts *c, const struct cgroup *cgroup,
		       uint64_t sampled_ns)
{
	uint64_t count = 0;

	for (size_t i = 0; i < cgroup->level_count; i++)
		if ((i == 0 || i == cgroup->tightest) &&
		    cgroup->levels[i].oom_kill_count != COUNT_UNKNOWN)
			count += cgroup->levels[i].oom_kill_count;
	if (c->is_begun && count > c->group_kills) {
		c->unlogged_kills += count - c->group_kills;
		c->unlogged_since_ns = sampled_ns;
	}
	c->group_kills = count;
	c->is_begun = true;
}

void flight_counts_read_machine(struct flight_counts *c, const struct procfs *fs)
{
	c->machine_sample = proc_vmstat_oom_kills(fs);
}

static bool has_risen(uint64_t before, const struct procfs *fs, uint64_t explained)
{
	uint64_t now = proc_vmstat_oom_kills(fs);

	return before != COUNT_UNKNOWN && now != COUNT_UNKNOWN &&
	       now > before + explained;
}

bool flight_counts_is_log_behind(const struct flight_counts *c, const struct procfs *fs)
{
	return has_risen(c->machine_first, fs, c->reported_kills);
}

bool flight_counts_are_open(const struct flight_counts *c, const struct procfs *fs,
			    bool has_log, uint64_t sampled_ns)
{
	if (!has_log)
		return has_risen(c->machine_sample, fs, 0);
	return c->pathless_ns > sampled_ns || flight_counts_is_log_behind(c, fs);
}
