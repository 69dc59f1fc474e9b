/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch - a snapshot of many processes kept fresh at little cost, for a screen.
 *
 * Each refresh reads the cheap file (stat) of every target; the memory (smaps_rollup, or
 * smaps where the needs ask for it) of those that are visible or whose stat has changed;
 * and of the rest a few in turn. So figures have ages: usage.taken_ns says when each was
 * read. No process is read so often that reading takes more than max_share of its time.
 */
#ifndef MS_SAMPLE_WATCH_H
#define MS_SAMPLE_WATCH_H

#include "sample/sampler.h"

struct watch;

/*
 * The sampler and targets must outlive it. max_share_per_mille as --max-share; 0 or 1000:
 * no limit.
 */
struct watch *watch_new(struct sampler *sampler, struct targets *targets,
			unsigned int max_share_per_mille);
void watch_free(struct watch *w);

/*
 * One tick; needs are the memory's, the rollup in any case. Returns 0, or -errno if the
 * processes cannot be listed, and what was known stays. Kernel threads and zombies are
 * left out, unless asked for by pid. However many there are, it ends within a fraction of
 * a second: what it did not come to is for the next.
 */
int watch_refresh(struct watch *w, unsigned int needs, const int *visible_pids,
		  size_t visible_count);

/*
 * What is known now, by rising pid; borrowed until the next refresh. Usages keep what was
 * read of them earlier; one that was never read yet has source stat, and one that cannot
 * be read its error set. cost_ns is what the last refresh took, unreadable_count is of
 * all.
 */
const struct snapshot *watch_snapshot(const struct watch *w);

/* How many usages the last refresh read, of how many. */
void watch_counts(const struct watch *w, size_t *ret_read, size_t *ret_total);

#endif
