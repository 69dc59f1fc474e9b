/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_counts - the kernel's counters of OOM kills while a group is recorded: those of the
 * group, which vanish with it, and that of the machine, which stays and shows whether the
 * kernel's log still lacks a report.
 */
#ifndef MS_SAMPLE_FLIGHT_COUNTS_H
#define MS_SAMPLE_FLIGHT_COUNTS_H

#include "model/cgroup.h"
#include "proc/procfs.h"

struct flight_counts {
	bool is_begun;
	uint64_t group_kills; /* of the group and of the owner of the limit, at the last sample */
	uint64_t unlogged_kills; /* counted in the group, and not reported by the log so far */
	uint64_t unlogged_since_ns;
	uint64_t machine_first;	 /* the machine's counter when the log was opened */
	uint64_t machine_sample; /* and at the last sample, if the log cannot be read */
	uint64_t reported_kills; /* by the log since it was opened, in any cgroup */
	uint64_t pathless_ns; /* when the log last reported a kill without naming a cgroup */
};

/* The log has just been opened. */
void flight_counts_begin(struct flight_counts *counts, const struct procfs *fs);

/* Add the group's counters of a new sample. */
void flight_counts_add(struct flight_counts *counts, const struct cgroup *cgroup,
		       uint64_t sampled_ns);

/* Read the machine's counter for a sample, where the log cannot be read. */
void flight_counts_read_machine(struct flight_counts *counts, const struct procfs *fs);

/* The machine has counted more kills than the log has reported. */
bool flight_counts_is_log_behind(const struct flight_counts *counts, const struct procfs *fs);

/*
 * The machine has counted a kill since the last sample that may be one of this group: no
 * readable report names the cgroup.
 */
bool flight_counts_are_open(const struct flight_counts *counts, const struct procfs *fs,
			    bool has_log, uint64_t sampled_ns);

#endif
