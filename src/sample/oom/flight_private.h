/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_private - the state of a flight recorder, shared by flight.c, which takes the
 * samples, and flight_reports.c, which follows the kernel log.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_PRIVATE_H
#define MS_SAMPLE_OOM_FLIGHT_PRIVATE_H

#include "classify/growth/pace.h"
#include "sample/oom/flight.h"
#include "sample/oom/flight_counts.h"
#include "sample/oom/flight_left.h"
#include "sample/oom/flight_log.h"
#include "sample/process/group_turns.h"

struct flight {
	struct flight_setup setup;
	struct oom_wakeups *wakeups;
	struct group_turns processes;
	/* cgroup figures of the last sample; preserved after the removal of the cgroup */
	struct cgroup cgroup;
	/* cgroup figures that are being read for the next sample */
	struct cgroup next_cgroup;
	/*
	 * figures of the process that was last read outside the regular samples, without
	 * its command line
	 */
	struct usage read;
	struct oom_figures figures;
	struct oom_pace pace;
	struct flight_log log;
	struct flight_summary summary;
	uint64_t start_ns, sampled_ns, due_ns;
	unsigned int share_per_million;
	/* duration of the last reading of the cgroup's files */
	uint64_t group_cost_ns;
	struct oom_steps steps;
	uint64_t pressure_reported_ns;
	struct flight_counts counts;
	struct flight_left left;
};

/* Convert a time from clock_now_ns() to Unix time. */
uint64_t flight_unix_ms(uint64_t ns);

/* Return true if the process was in the cgroup at the last sample. */
bool flight_has_pid(const struct flight *flight, int pid);

/*
 * Record the OOM kills in this cgroup: kills in the kernel log, and kills that only the
 * kill counters show because their log entries are overdue.
 */
void flight_read_log(struct flight *flight);

#endif
