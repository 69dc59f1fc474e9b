/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past - collect facts about all samples of a recording in one pass: the memory need and
 * the kernel's counters at each sample, and the lifetime of each process.
 */
#ifndef MS_SAMPLE_OOM_PAST_H
#define MS_SAMPLE_OOM_PAST_H

#include "classify/oom/evidence.h"
#include "model/oom_kill.h"
#include "sample/oom/notes.h"
#include "sample/oom/scope.h"
#include "sample/recording/replay.h"

struct past_sample {
	/* Unix time of the sample, and time since the first sample */
	uint64_t unix_ms, elapsed_ns;
	/*
	 * Memory need of the cgroup; if the figures of the cgroup were not recorded, the
	 * private memory of its processes.
	 */
	uint64_t need_bytes;
	uint64_t hidden_bytes, working_set_bytes;
	/* LazyFree pages that several processes share */
	uint64_t shared_lazyfree_bytes;
	uint64_t huge_bytes; /* private memory of the processes in huge pages */
	uint64_t thread_count;
	/* private memory of the processes, not counting LazyFree */
	uint64_t private_bytes;
	uint64_t live_bytes;	 /* live memory in all heaps that were read */
	uint64_t kill_count;	 /* number of OOM kills in the cgroup itself */
	uint64_t all_kill_count; /* number of OOM kills in all visible cgroups */
	/* how often the cgroup has reached its own limit */
	uint64_t max_count;
	uint64_t swap_fail_count;
	/*
	 * shared memory charged to the owner of the limit; unknown without a
	 * recorded cgroup
	 */
	uint64_t shmem_bytes;
};

struct past_process {
	/* identity of the process, taken from the last sample that contains it */
	struct process process;
	/* indexes of the first and the last sample that contain the process */
	size_t first, last;
	/* figures of the process in its last sample */
	uint64_t rss_bytes, lazyfree_bytes;
};

struct past_event {
	uint64_t unix_ms;
	int pid;
	/*
	 * true if `text` is the kernel's report; false if the event is a mark_victim
	 * event, which names the next victim
	 */
	bool is_report;
	char *text;
};

struct oom_past;

/* The end of a process or of the recording, before evidence about it is collected. */
struct past_end {
	const struct oom_past *past;
	/* indexes of the first and last sample since the previous end */
	size_t first, last;
	enum oom_end kind;
	/* the kernel's report about the end, or NULL */
	const struct oom_kill *report;
	/* the process that ended, or NULL if no sample contains the process */
	const struct past_process *victim;
	/* time of the end, or 0 if it is only known to be before the next sample */
	uint64_t unix_ms;

	/*
	 * scope, samples and scope_samples are set only while evidence
	 * is being collected
	 */
	struct oom_scope scope;
	/* samples of the cgroup whose limit was reached */
	const struct past_sample *samples;
	/*
	 * Samples of the cgroup whose limit was reached, allocated separately if it is
	 * not the recorded cgroup. NULL if `samples` points to the recording's samples.
	 */
	struct past_sample *scope_samples;
};

struct oom_past {
	struct past_sample *samples;
	size_t sample_count;
	/* processes in the order in which they ended or were last seen */
	struct past_process *processes;
	size_t process_count, process_capacity;
	/* OOM kills and mark_victim events, sorted by time */
	struct past_event *events;
	size_t event_count, event_capacity;
	/* kernel reports, parsed from the texts of the recorded events */
	struct oom_kill_list reports;
	struct oom_notes notes;
	bool has_group; /* true if any sample has cgroup figures */
};

/* Read all samples of a recording. Return 0 or -errno from reading the recording. */
int oom_past_read(struct replay *replay, struct oom_past *ret);
void oom_past_release(struct oom_past *past);

/*
 * Read the samples from first to last again, and add up the processes of a cgroup whose
 * memory figures were not recorded. Store the sums in ret[first] to ret[last], with the
 * private memory of the processes as the memory need. If the cgroup of a process is
 * unknown, all sums of the sample are unknown. Return 0 or -errno.
 */
int oom_past_read_scope(const struct oom_past *past, struct replay *replay,
			const struct oom_scope *scope, size_t first, size_t last,
			struct past_sample *ret);

/* Return the memory need of a process: its Rss without LazyFree. */
uint64_t oom_past_need_of(const struct usage *usage);

/*
 * Return the process that a report names, or NULL if no sample contains the process. If
 * several processes have had the pid, return the last one. The name may be truncated; ""
 * matches any name.
 */
const struct past_process *oom_past_find_process(const struct oom_past *past, int pid,
						 const char *name);

#endif
