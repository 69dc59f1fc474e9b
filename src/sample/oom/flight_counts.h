/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_counts - the kernel's counters of OOM kills while a cgroup is recorded. The
 * cgroup's own counters vanish when it is removed. The machine's counter remains, and
 * shows whether the kernel log still lacks a report.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_COUNTS_H
#define MS_SAMPLE_OOM_FLIGHT_COUNTS_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

struct flight_counts {
	bool is_begun;
	/*
	 * Kill counters of the cgroup and of the owner of its
	 * limit, summed, at the last sample.
	 */
	uint64_t group_kills;
	/* kills in the cgroup that the log has not reported yet */
	uint64_t unlogged_kills;
	uint64_t unlogged_since_ns;
	uint64_t machine_first; /* the machine's kill counter when the log was opened */
	/* the machine's kill counter at the last sample, if the log cannot be read */
	uint64_t machine_sample;
	/* kills in any cgroup that the log has reported since it was opened */
	uint64_t reported_kills;
	/* when the log last reported a kill without naming a cgroup */
	uint64_t pathless_ns;
};

/* Initialize the counters. Call this function right after opening the log. */
void flight_counts_begin(struct flight_counts *counts, const struct procfs *fs);

/* Add the cgroup's counters from a new sample. */
void flight_counts_add(struct flight_counts *counts, const struct cgroup *cgroup,
		       uint64_t sampled_ns);

/* Read the machine's kill counter at a sample, for use if the log cannot be read. */
void flight_counts_read_machine(struct flight_counts *counts, const struct procfs *fs);

/* Return true if the machine has counted more kills than the log has reported. */
bool flight_counts_is_log_behind(const struct flight_counts *counts,
				 const struct procfs *fs);

/*
 * Return true if a kill since the last sample may have hit this cgroup: the machine has
 * counted a kill that no readable report assigns to a cgroup.
 */
bool flight_counts_are_open(const struct flight_counts *counts, const struct procfs *fs,
			    bool has_log, uint64_t sampled_ns);

#endif
