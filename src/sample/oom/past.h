/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past - the facts about a recording's samples, collected in one pass: the memory need
 * and the kernel's counters at each sample, and the lifetime of each process.
 */
#ifndef MS_SAMPLE_OOM_PAST_H
#define MS_SAMPLE_OOM_PAST_H

#include "classify/oom/evidence.h"
#include "model/oom_kill.h"
#include "sample/oom/notes.h"
#include "sample/oom/scope.h"
#include "sample/recording/replay.h"

struct past_sample {
	/* Unix time of the sample, and its time since the first sample */
	uint64_t unix_ms, elapsed_ns;
	/*
	 * Memory need of the cgroup; if its amounts were not recorded,
	 * the private memory of the processes.
	 */
	uint64_t need_bytes;
	uint64_t hidden_bytes, working_set_bytes;
	/* LazyFree pages that more than one process shares */
	uint64_t shared_lazyfree_bytes;
	uint64_t huge_bytes; /* private memory in huge pages */
	uint64_t thread_count;
	uint64_t private_bytes;	 /* private memory of the processes, without LazyFree */
	uint64_t live_bytes;	 /* live memory in the heaps that were read */
	uint64_t kill_count;	 /* OOM kills in the cgroup itself */
	uint64_t all_kill_count; /* OOM kills in all visible cgroups */
	/* number of times that the cgroup reached its own limit */
	uint64_t max_count;
	uint64_t swap_fail_count;
	/* shared memory charged to the owner of the limit; unknown without a cgroup */
	uint64_t shmem_bytes;
};

struct past_process {
	struct process process; /* the process as last seen */
	/* indexes of the first and last sample of the process */
	size_t first, last;
	/* figures of the last sample of the process */
	uint64_t rss_bytes, lazyfree_bytes;
};

struct past_event {
	uint64_t unix_ms;
	int pid;
	/*
	 * true: `text` is the kernel's report; false: the
	 * kernel marked the process as a victim
	 */
	bool is_report;
	char *text;
};

struct oom_past;

/*
 * The end of a process, or of the recording, before the evidence about it is collected.
 */
struct past_end {
	const struct oom_past *past;
	/* indexes of the first and last sample since the previous end */
	size_t first, last;
	enum oom_end kind;
	/* the kernel's report; NULL: there is no report */
	const struct oom_kill *report;
	/* the process that ended; NULL: no sample contains it */
	const struct past_process *victim;
	uint64_t unix_ms; /* time of the end; 0: at some time before the next sample */

	/* the next three members are set only while the evidence is collected */
	struct oom_scope scope;
	const struct past_sample *samples; /* samples of the cgroup whose limit was hit */
	/*
	 * Separately allocated samples of a cgroup other than the recorded one. NULL:
	 * `samples` points to those of the recording.
	 */
	struct past_sample *scope_samples;
};

struct oom_past {
	struct past_sample *samples;
	size_t sample_count;
	/* processes, in the order in which they ended or were last seen */
	struct past_process *processes;
	size_t process_count, process_capacity;
	/* events, sorted by time: only OOM kills and marks on victims */
	struct past_event *events;
	size_t event_count, event_capacity;
	/* the kernel's reports, parsed from the texts of the events */
	struct oom_kill_list reports;
	struct oom_notes notes;
	bool has_group; /* at least one sample has cgroup figures */
};

/* Read all samples of a recording. Returns 0 or -errno from reading the recording. */
int oom_past_read(struct replay *replay, struct oom_past *ret);
void oom_past_release(struct oom_past *past);

/*
 * Read the samples from first to last again, for a cgroup whose own amounts were not
 * recorded. Fill ret[first] to ret[last] with the sums over its processes; their private
 * memory counts as the memory need of the cgroup. The amounts are unknown in samples in
 * which the cgroup of a process is unknown. Return 0 or -errno.
 */
int oom_past_read_scope(const struct oom_past *past, struct replay *replay,
			const struct oom_scope *scope, size_t first, size_t last,
			struct past_sample *ret);

/* Return the memory need of a process, which is its Rss without LazyFree. */
uint64_t oom_past_need_of(const struct usage *usage);

/*
 * Return the process that a report names, or NULL if no sample contains the
 * process. Of several processes with the same pid, return the last. The name
 * may be truncated, or "" for any name.
 */
const struct past_process *oom_past_find_process(const struct oom_past *past, int pid,
						 const char *name);

#endif
