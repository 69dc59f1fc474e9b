/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight - the flight recorder of a cgroup. It samples the cgroup and its processes, more
 * often the nearer the cgroup is to its limit, and immediately when the kernel reports an
 * event. It reports noteworthy events to the caller as lines of text. The module is
 * single-threaded: the caller polls the file descriptors from flight_polled(), at most
 * until flight_due_ns(), and then calls flight_handle_events().
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
	const struct procfs *fs; /* fs, sampler, group and recorder are borrowed */
	struct sampler *sampler;
	struct cgroup_sampler *group;
	struct recorder *recorder;
	uint64_t longest_ns; /* maximum time between two samples, in ns */
	/* maximum share of time for reading processes */
	unsigned int share_per_mille;
	/* called after an event was recorded; may be NULL */
	void (*report)(void *context, const struct recorded_event *event);
	/*
	 * Called when everything has been read, to resume a cgroup that the kernel paused
	 * because it ran out of memory. May be NULL.
	 */
	void (*resume_group)(void *context);
	void *context;
};

struct flight_summary {
	const struct cgroup *cgroup;	   /* cgroup figures from the last sample */
	const struct oom_figures *figures; /* memory figures from the last sample */
	uint64_t sample_count, shortest_ns, elapsed_ns;
	uint64_t peak_need_bytes, peak_unix_ms;
	struct flight_kills kills;
	/* first negative errno value from writing the recording, or 0 */
	int record_error;
	/*
	 * True if the cgroup was removed and the machine's kill counter includes a kill
	 * that cannot be assigned to any cgroup. Set by flight_finish().
	 */
	bool is_end_unclear;
};

/*
 * Start the flight recorder and take the first sample. Return 0, or -errno from
 * cgroup_sampler_take() or oom_wakeups_open().
 */
int flight_open(const struct flight_setup *setup, struct flight **ret);
void flight_close(struct flight *flight);

/* Return 0 if the source of wake-ups is available, otherwise -errno. */
int flight_source_error(const struct flight *flight, enum oom_source source);

/*
 * Return the file descriptors to poll, which are borrowed until the next call. They
 * include the caller's other_fd unless it is -1.
 */
struct pollfd *flight_polled(struct flight *flight, int other_fd, size_t *ret_count);
uint64_t flight_due_ns(const struct flight *flight);

/*
 * Handle the result of poll(2) for the descriptors from flight_polled(), and take a
 * sample if one is due. Return 0, or -ESRCH if the cgroup was removed.
 */
int flight_handle_events(struct flight *flight);

/*
 * Record kernel reports that arrive late, possibly after the removal of their cgroup.
 * Wait at most 2 seconds, and only while the machine's kill counter exceeds the number of
 * kills in the kernel log. Call this function once, after the last
 * flight_handle_events(). is_removed is true if the cgroup no longer exists.
 */
void flight_finish(struct flight *flight, bool is_removed);

/*
 * Take a sample immediately, including all mappings of the given process, which is about
 * to end. Return 0 or -errno.
 */
int flight_sample_process(struct flight *flight, int pid);

/* Record an event that the caller has detected. No sample is taken. */
void flight_record_event(struct flight *flight, const struct recorded_event *event);

/* Return a summary of the recording so far. The flight recorder owns the summary. */
const struct flight_summary *flight_summarize(struct flight *flight);

#endif
