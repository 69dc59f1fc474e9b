/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past - the facts about a recording's samples, collected in one pass: memory need
 * and the kernel's counters per sample, and when each process existed.
 */
#ifndef MS_SAMPLE_OOM_PAST_H
#define MS_SAMPLE_OOM_PAST_H

#include "classify/oom/evidence.h"
#include "model/oom_kill.h"
#include "sample/oom/notes.h"
#include "sample/oom/scope.h"
#include "sample/recording/replay.h"

struct past_sample {
	uint64_t unix_ms, elapsed_ns; /* since the first sample */
	/* of the group; without its amounts, private memory of the processes */
	uint64_t need_bytes;
	uint64_t hidden_bytes, working_set_bytes;
	uint64_t shared_lazyfree_bytes; /* shared by more than one process */
	uint64_t huge_bytes;		/* private memory in huge pages */
	uint64_t thread_count;
	uint64_t private_bytes;	 /* of processes, without LazyFree */
	uint64_t live_bytes;	 /* in heaps that were read */
	uint64_t kill_count;	 /* of the group alone */
	uint64_t all_kill_count; /* of all visible groups */
	uint64_t max_count;	 /* how often the group reached its own limit */
	uint64_t swap_fail_count;
	/* charged to the owner of the limit; unknown without a group */
	uint64_t shmem_bytes;
};

struct past_process {
	struct process process;		    /* as last seen */
	size_t first, last;		    /* indexes of samples */
	uint64_t rss_bytes, lazyfree_bytes; /* in its last sample */
};

struct past_event {
	uint64_t unix_ms;
	int pid;
	/*
	 * text is the kernel's report; otherwise the event is the kernel's
	 * mark on a victim.
	 */
	bool is_report;
	char *text;
};

struct oom_past;

/* The end of a process, or of the recording, before its evidence is collected. */
struct past_end {
	const struct oom_past *past;
	size_t first, last; /* samples since the previous end */
	enum oom_end kind;
	const struct oom_kill *report;	   /* NULL: there is no report */
	const struct past_process *victim; /* NULL: not seen */
	uint64_t unix_ms; /* when it ended; 0: at some time before the next sample */

	/* Set while the evidence is collected. */
	struct oom_scope scope;
	const struct past_sample *samples; /* of the group whose limit was hit */
	struct past_sample *scope_samples; /* NULL: the samples are those of the past */
};

struct oom_past {
	struct past_sample *samples;
	size_t sample_count;
	/* in the order in which they ended, or were last seen */
	struct past_process *processes;
	size_t process_count, process_capacity;
	struct past_event *events; /* only kills, sorted by time */
	size_t event_count, event_capacity;
	struct oom_kill_list reports; /* parsed from the texts of the events */
	struct oom_notes notes;
	bool has_group; /* any sample has a group */
};

/* Returns 0 or -errno from reading the recording. */
int oom_past_read(struct replay *replay, struct oom_past *ret);
void oom_past_release(struct oom_past *past);

/*
 * Read the samples first to last again. For a group whose own amounts were not
 * recorded, set ret[first] to ret[last] to what its processes show: the group's need is
 * their private memory. Amounts are unknown in samples in which a process's group is
 * unknown. Return 0 or -errno.
 */
int oom_past_read_scope(const struct oom_past *past, struct replay *replay,
			const struct oom_scope *scope, size_t first, size_t last,
			struct past_sample *ret);

/* Return how much memory the process needs: its Rss without LazyFree. */
uint64_t oom_past_need_of(const struct usage *usage);

/*
 * Return the process that a report names; of several with the same pid the last one.
 * NULL: it was not seen. name may be truncated, or "".
 */
const struct past_process *oom_past_find_process(const struct oom_past *past, int pid,
						 const char *name);

#endif
