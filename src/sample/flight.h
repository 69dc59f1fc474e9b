/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight - the flight recorder of a group: samples of it and its processes, the more often
 * the nearer it is to its limit, and at once when the kernel says that something happens;
 * and what of it is worth a line.
 *
 * One thread: its owner waits for what flight_polled() has, no longer than until
 * flight_due_ns(), and then calls flight_go_on().
 */
#ifndef MS_SAMPLE_FLIGHT_H
#define MS_SAMPLE_FLIGHT_H

#include "classify/oom_figures.h"
#include "sample/cgroup_sampler.h"
#include "sample/flight_kills.h"
#include "sample/oom_wakeups.h"
#include "sample/recorder.h"

struct flight;

struct flight_setup {
	const struct procfs *fs; /* all of these are borrowed */
	struct sampler *sampler;
	struct cgroup_sampler *group;
	struct recorder *recorder;
	uint64_t longest_ns; /* between two samples */
	unsigned int
		share_per_mille; /* of a CPU's time, at most, for reading processes */
	/* An event was recorded. May be NULL. */
	void (*say)(void *context, const struct recorded_event *event);
	/*
	 * The group stands still at the end of its memory, as it was armed so, and all of it has
	 * been read: let it go on. May be NULL.
	 */
	void (*let_go)(void *context);
	void *context;
};

struct flight_summary {
	const struct cgroup *cgroup;	   /* of the last sample */
	const struct oom_figures *figures; /* the same */
	uint64_t sample_count, shortest_ns, elapsed_ns;
	uint64_t peak_need_bytes, peak_unix_ms;
	struct flight_kills kills;
	int record_error; /* the first -errno of the file; 0 */
	/*
	 * The group was removed, and the machine counted a kill meanwhile whose cgroup no
	 * readable report names. Set by flight_finish().
	 */
	bool is_end_unclear;
};

/* The first sample is taken. Returns 0, or -errno of cgroup_sampler_take() and oom_wakeups_open(). */
int flight_open(const struct flight_setup *setup, struct flight **ret);
void flight_close(struct flight *flight);

/* Why a source of wake-ups is not there: -errno; 0: it is. */
int flight_source_error(const struct flight *flight, enum oom_source source);

/* With one of the owner's, or -1. Borrowed until the next call. */
struct pollfd *flight_polled(struct flight *flight, int other_fd, size_t *ret_count);
uint64_t flight_due_ns(const struct flight *flight);

/*
 * See what poll(2) said of these, and take a sample if it is time for one. Returns 0, or
 * -ESRCH if the group was removed.
 */
int flight_go_on(struct flight *flight);

/*
 * Record what the kernel still reports: a report may come later than the removal of its
 * group. Waits at most 2 seconds, and only while the machine's counter of kills is ahead of
 * the log. Called once, after the last flight_go_on(). is_removed: the group is gone.
 */
void flight_finish(struct flight *flight, bool is_removed);

/* A sample now, with all mappings of this process, which is about to end. */
int flight_look_at(struct flight *flight, int pid);

/* Something that is no business of samples: kind and text of an event. */
void flight_note(struct flight *flight, const struct recorded_event *event);

/* Borrowed. */
const struct flight_summary *flight_summarize(struct flight *flight);

#endif
