/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight - the flight recorder of a cgroup. It samples the cgroup and its processes, more
 * often the nearer the cgroup is to its limit, and immediately when the kernel reports an
 * event. It passes noteworthy events to the owner as lines of text.
 *
 * The functions are single-threaded: the owner polls the descriptors of flight_polled(),
 * at most until flight_due_ns(), and then calls flight_handle_events().
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_H
#define MS_SAMPLE_OOM_FLIGHT_H

#include "classify/cgroup/figures.h"
#include "sample/oom/flight_kills.h"
#include "sample/oom/wakeups.h"
#include "sample/process/cgroup_sampler.h"
#include "sample/recording/recorder.h"

struct flight;

struct flight_setup {
	const struct procfs *fs; /* borrowed, as are the next three pointers */
	struct sampler *sampler;
	struct cgroup_sampler *group;
	struct recorder *recorder;
	uint64_t longest_ns; /* upper bound on the time between two samples */
	/* upper bound on the share of the time spent reading processes */
	unsigned int share_per_mille;
	/* Called after an event was recorded. May be NULL. */
	void (*report)(void *context, const struct recorded_event *event);
	/*
	 * Called to resume the cgroup, if the kernel paused it because it ran out of
	 * memory, after everything has been read. May be NULL.
	 */
	void (*resume_group)(void *context);
	void *context;
};

struct flight_summary {
	const struct cgroup *cgroup;	   /* cgroup figures of the last sample */
	const struct oom_figures *figures; /* memory figures of the last sample */
	uint64_t sample_count, shortest_ns, elapsed_ns;
	uint64_t peak_need_bytes, peak_unix_ms;
	struct flight_kills kills;
	int record_error; /* first -errno from writing the file, or 0 */
	/*
	 * The cgroup was removed, and the machine's counter shows another kill that no
	 * readable report assigns to a cgroup. Set by flight_finish().
	 */
	bool is_end_unclear;
};

/*
 * Start the recorder and take the first sample. Returns 0, or -errno from
 * cgroup_sampler_take() or oom_wakeups_open().
 */
int flight_open(const struct flight_setup *setup, struct flight **ret);
void flight_close(struct flight *flight);

/* Return 0 if the source of wake-ups is available, otherwise -errno. */
int flight_source_error(const struct flight *flight, enum oom_source source);

/*
 * Return the descriptors to poll, which are borrowed until the next call. They include
 * other_fd, a descriptor of the owner's, unless it is -1.
 */
struct pollfd *flight_polled(struct flight *flight, int other_fd, size_t *ret_count);
uint64_t flight_due_ns(const struct flight *flight);

/*
 * Handle the result of poll(2) for the descriptors of flight_polled(), and take a sample
 * if one is due. Returns 0, or -ESRCH if the cgroup was removed.
 */
int flight_handle_events(struct flight *flight);

/*
 * Record late reports of the kernel: a report may arrive after the removal of its
 * cgroup. Wait for at most 2 seconds, and only while the machine's kill counter is
 * ahead of the log. Call this function once, after the last flight_handle_events().
 * is_removed: the cgroup no longer exists.
 */
void flight_finish(struct flight *flight, bool is_removed);

/*
 * Take a sample now, including all mappings of this process, which
 * is about to end. Returns 0 or -errno.
 */
int flight_sample_process(struct flight *flight, int pid);

/* Record an event that was not found by taking a sample. */
void flight_record_event(struct flight *flight, const struct recorded_event *event);

/* Return a summary of the recording so far. The flight owns the summary. */
const struct flight_summary *flight_summarize(struct flight *flight);

#endif
