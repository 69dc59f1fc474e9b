/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_private - the state of a flight recorder, shared by flight.c, which takes
 * samples, and flight_reports.c, which follows the kernel log.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_PRIVATE_H
#define MS_SAMPLE_OOM_FLIGHT_PRIVATE_H

#include "classify/growth/pace.h"
#include "sample/oom/flight.h"
#include "sample/oom/flight_counts.h"
#include "sample/oom/flight_log.h"
#include "sample/process/group_turns.h"

struct flight {
	struct flight_setup setup;
	struct oom_wakeups *wakeups;
	struct group_turns processes;
	struct cgroup cgroup; /* from the last sample, even after the group was removed */
	struct cgroup next_cgroup; /* being read */
	struct usage read; /* the process last read out of turn, without its command */
	struct oom_figures figures;
	struct oom_pace pace;
	struct flight_log log;
	struct flight_summary summary;
	uint64_t start_ns, sampled_ns, due_ns;
	unsigned int share_per_million;
	uint64_t group_cost_ns; /* cost of reading the group's files, the last time */
	struct oom_steps steps;
	uint64_t pressure_said_ns;
	struct flight_counts counts;
};

/* Convert a time of clock_now_ns() to Unix time. */
uint64_t flight_unix_ms(uint64_t ns);

/* Whether the process was in the group at the last sample. */
bool flight_has_pid(const struct flight *flight, int pid);

/* Record the kills of this group that the kernel log, or overdue counters, report. */
void flight_take_log(struct flight *flight);

#endif
