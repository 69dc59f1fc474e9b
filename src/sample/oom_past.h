/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_past - what is looked for in a recording, read once from its beginning to its end:
 * need and the kernel's counts in each sample, and when each process was there.
 */
#ifndef MS_SAMPLE_OOM_PAST_H
#define MS_SAMPLE_OOM_PAST_H

#include "model/oom_kill.h"
#include "sample/oom_notes.h"
#include "sample/replay.h"

struct past_sample {
	uint64_t unix_ms, elapsed_ns; /* since the first sample */
	uint64_t need_bytes;   /* of the group; without one of the processes together */
	uint64_t hidden_bytes, working_set_bytes;
	uint64_t shared_lazyfree_bytes; /* that more than one process has */
	uint64_t huge_bytes;   /* private memory in huge pages */
	uint64_t thread_count;
	uint64_t private_bytes; /* of processes, without LazyFree */
	uint64_t live_bytes;   /* in heaps that were read */
	uint64_t kill_count;   /* of the group alone */
	uint64_t all_kill_count; /* of all groups that can be seen */
	uint64_t max_count;    /* how often the group's own limit was met */
	uint64_t swap_fail_count;
	uint64_t shmem_bytes; /* charged where the limit is; unknown without a group */
};

struct past_process {
	struct process process; /* as of when it was seen last */
	size_t first, last;	/* samples */
	uint64_t rss_bytes, lazyfree_bytes; /* in the last one */
};

struct past_event {
	uint64_t unix_ms;
	int pid;
	bool is_report; /* the kernel's lines, which are `text`, or its mark on a victim */
	char *text;
};

struct oom_past {
	struct past_sample *samples;
	size_t sample_count;
	struct past_process *processes; /* in the order in which they ended, or were seen last */
	size_t process_count, process_capacity;
	struct past_event *events; /* kills only, by time */
	size_t event_count, event_capacity;
	struct oom_kill_list reports; /* what the events' texts tell */
	struct oom_notes notes;
	bool has_group;		      /* in any sample */
};

/* Returns 0 or -errno of reading it. */
int oom_past_read(struct replay *replay, struct oom_past *ret);
void oom_past_release(struct oom_past *past);

/* What of all that processes need: their Rss without LazyFree. */
uint64_t oom_past_need_of(const struct usage *usage);

/*
 * The process that a report names, of all that had the pid the last one; NULL: none was
 * seen. name may be cut, or "".
 */
const struct past_process *oom_past_find_process(const struct oom_past *past, int pid,
						 const char *name);

#endif
