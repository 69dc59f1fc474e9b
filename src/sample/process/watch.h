/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch - keep a snapshot of many processes up to date for a screen, at little cost.
 *
 * Each refresh reads a cheap file of every target, stat or statm (watch_list.h). It reads
 * the memory (smaps_rollup, or smaps if the needs require smaps) of targets that are
 * visible or whose stat or statm has changed, and of a few others in turn. Figures
 * therefore have different ages: usage.taken_ns is the time of the reading. No process is
 * read so often that reading takes more than max_share of its time.
 */
#ifndef MS_SAMPLE_PROCESS_WATCH_H
#define MS_SAMPLE_PROCESS_WATCH_H

#include "sample/process/sampler.h"

struct watch;

/*
 * Create a watch. The sampler and targets must outlive it. max_share_per_mille is the
 * value of --max-share; 0 and 1000 mean no limit.
 */
struct watch *watch_new(struct sampler *sampler, struct targets *targets,
			unsigned int max_share_per_mille);
void watch_free(struct watch *w);

/*
 * Set the time for which a refresh reads processes after it has listed them. Tests change
 * this time so that their results do not depend on the load of the machine.
 */
void watch_set_refresh_limit(struct watch *w, uint64_t limit_ns);

/*
 * From now on, each refresh also reads processes whose figures are older than age_ns, for
 * about cpu_ns of CPU time. If cpu_ns is 0, which is the default, each refresh reads only
 * a few old figures.
 */
void watch_set_old_limits(struct watch *w, uint64_t age_ns, uint64_t cpu_ns);

/* Return the CPU time that the last refresh used for updating old figures. */
uint64_t watch_old_cpu_ns(const struct watch *w);

/*
 * Refresh the snapshot once. `needs` selects the memory figures to read; those of
 * smaps_rollup are always read. Return 0, or -errno if the processes cannot be listed,
 * with the snapshot unchanged. Kernel threads and zombies are left out unless requested
 * by pid. The call returns within a fraction of a second, regardless of the number of
 * processes; the next call continues with the remaining ones.
 */
int watch_refresh(struct watch *w, unsigned int needs, const int *visible_pids,
		  size_t visible_count);

/*
 * Return the current snapshot, in ascending order of pid, borrowed until the next
 * refresh. Usages have the figures of their last reading. A usage whose memory was
 * never read has the source SOURCE_STAT, and an unreadable usage has its error set.
 * cost_ns is the cost of the last refresh; unreadable_count is the number of all
 * unreadable processes.
 */
const struct snapshot *watch_snapshot(const struct watch *w);

/*
 * Set *ret_read to the number of usages that the last refresh read, and *ret_total to the
 * number of usages in the snapshot.
 */
void watch_counts(const struct watch *w, size_t *ret_read, size_t *ret_total);

#endif
