/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch - keep a snapshot of many processes fresh at little cost, for a screen.
 *
 * Each refresh reads the cheap file (stat) of every target. It reads the memory
 * (smaps_rollup, or smaps where the needs require it) of targets that are visible or
 * whose stat has changed, and of a few others in turn. Figures therefore have ages:
 * usage.taken_ns says when each was read. No process is read so often that reading takes
 * more than max_share of its time.
 */
#ifndef MS_SAMPLE_PROCESS_WATCH_H
#define MS_SAMPLE_PROCESS_WATCH_H

#include "sample/process/sampler.h"

struct watch;

/*
 * The sampler and targets must outlive the watch. max_share_per_mille is that of
 * --max-share; 0 or 1000: no limit.
 */
struct watch *watch_new(struct sampler *sampler, struct targets *targets,
			unsigned int max_share_per_mille);
void watch_free(struct watch *w);

/*
 * Refresh once. The needs are those for memory; the rollup is always included. Returns
 * 0; or -errno if the processes cannot be listed, and the snapshot stays as before.
 * Kernel threads and zombies are left out unless requested by pid. The call returns
 * within a fraction of a second, whatever the number of processes; the next call
 * continues with the rest.
 */
int watch_refresh(struct watch *w, unsigned int needs, const int *visible_pids,
		  size_t visible_count);

/*
 * Return the current snapshot, in ascending order of pid; borrowed until the next
 * refresh. Usages keep the figures of their last reading. A usage that was never read has
 * source stat, and one that cannot be read has its error set. cost_ns is that of the last
 * refresh, unreadable_count that of all processes.
 */
const struct snapshot *watch_snapshot(const struct watch *w);

/* Return how many usages the last refresh read, and how many there are. */
void watch_counts(const struct watch *w, size_t *ret_read, size_t *ret_total);

#endif
