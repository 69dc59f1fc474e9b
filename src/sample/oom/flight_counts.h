/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_counts - the kernel's counters of OOM kills while a group is recorded. The
 * group's counters vanish with it. The machine's counter remains, and shows whether the
 * kernel log still lacks a report.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_COUNTS_H
#define MS_SAMPLE_OOM_FLIGHT_COUNTS_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

struct flight_counts {
	bool is_begun;
	/* of the group and of the owner of its limit, at the last sample */
	uint64_t group_kills;
	/* counted in the group, but not yet reported by the log */
	uint64_t unlogged_kills;
	uint64_t unlogged_since_ns;
	uint64_t machine_first; /* the machine's counter when the log was opened */
	/* the same at the last sample, if the log is unreadable */
	uint64_t machine_sample;
	/* kills reported by the log since it was opened, in any cgroup */
	uint64_t reported_kills;
	/* when the log last reported a kill without naming a cgroup */
	uint64_t pathless_ns;
};

/* Initialize the counters; to be called right after the log was opened. */
void flight_counts_begin(struct flight_counts *counts, const struct procfs *fs);

/* Add the group's counters from a new sample. */
void flight_counts_add(struct flight_counts *counts, const struct cgroup *cgroup,
		       uint64_t sampled_ns);

/* Read the machine's counter at a sample, for use when the log cannot be read. */
void flight_counts_read_machine(struct flight_counts *counts, const struct procfs *fs);

/* Whether the machine has counted more kills than the log has reported. */
bool flight_counts_is_log_behind(const struct flight_counts *counts,
				 const struct procfs *fs);

/*
 * Whether a kill since the last sample may have hit this group: the machine has counted
 * one for which no readable report names a cgroup.
 */
bool flight_counts_are_open(const struct flight_counts *counts, const struct procfs *fs,
			    bool has_log, uint64_t sampled_ns);

#endif
