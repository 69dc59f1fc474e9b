/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_counts - follow the kernel's counters of OOM kills while a cgroup is recorded.
 * The cgroup's own counters vanish when it is removed. The machine's counter remains, and
 * shows whether the kernel log still lacks a report.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_COUNTS_H
#define MS_SAMPLE_OOM_FLIGHT_COUNTS_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

struct flight_counts {
	bool is_begun;
	/*
	 * sum of the kill counters of the cgroup and of its limit's owner at the
	 * last sample
	 */
	uint64_t group_kills;
	/* number of kills in the cgroup that the kernel log has not reported yet */
	uint64_t unlogged_kills;
	uint64_t unlogged_since_ns;
	/* the machine's kill counter when the kernel log was opened */
	uint64_t machine_first;
	/*
	 * the machine's kill counter at the last sample, if the kernel log is unreadable
	 */
	uint64_t machine_sample;
	/*
	 * number of kills in any cgroup that the kernel log has reported since it
	 * was opened
	 */
	uint64_t reported_kills;
	/* time of the last kill that the kernel log reported without a cgroup */
	uint64_t pathless_ns;
};

/*
 * Initialise the counters. Call this function immediately after opening the kernel log.
 */
void flight_counts_begin(struct flight_counts *counts, const struct procfs *fs);

/* Add the cgroup's kill counters from a new sample. */
void flight_counts_add(struct flight_counts *counts, const struct cgroup *cgroup,
		       uint64_t sampled_ns);

/*
 * Read the machine's kill counter for a sample. It is needed if the kernel log cannot
 * be read.
 */
void flight_counts_read_machine(struct flight_counts *counts, const struct procfs *fs);

/* Return true if the machine has counted more kills than the kernel log has reported. */
bool flight_counts_is_log_behind(const struct flight_counts *counts,
				 const struct procfs *fs);

/*
 * Return true if the kernel has counted an OOM kill on this machine that no readable
 * report assigns to a cgroup. The kill may then have been in this cgroup. Kills that the
 * kernel log reported without a cgroup, and all kills if the log is unreadable, matter
 * only if they happened after the last sample.
 */
bool flight_counts_are_open(const struct flight_counts *counts, const struct procfs *fs,
			    bool has_log, uint64_t sampled_ns);

#endif
