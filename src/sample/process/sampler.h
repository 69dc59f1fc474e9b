/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler - take one sample of the targets: find the processes, read what is needed of
 * each, and measure what that costs them.
 *
 * Reads smaps_rollup where its fields suffice, otherwise smaps. Caches what makes the
 * next sample cheaper. One thread at a time.
 */
#ifndef MS_SAMPLE_PROCESS_SAMPLER_H
#define MS_SAMPLE_PROCESS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"
#include "proc/system/procfs.h"
#include "sample/process/targets.h"

typedef int (*usage_fn)(void *context, const struct usage *u);

struct sampler;

/* The descriptor in fs is borrowed. */
struct sampler *sampler_new(const struct procfs *fs, bool is_paced);

/*
 * From now on use this function in place of sampler_read_mappings() for usages with
 * NEED_HEAP; without it the heap is unknown. The mappings belong to the sampler and are
 * valid during the call.
 */
void sampler_set_heap_source(struct sampler *s,
			     int (*read)(void *context, struct usage *u,
					 struct mapping_list *mappings),
			     void *context);

/*
 * A receiver of all mappings of some processes, with their owners; valid during the call.
 */
struct mapping_sink {
	bool (*wants)(void *context, const struct process *process);
	void (*take)(void *context, const struct usage *u,
		     const struct mapping_list *mappings);
	void *context;
};

/*
 * From now on read usages with all their mappings if the needs or the sink ask for them.
 * The sink is copied; NULL removes it.
 */
void sampler_set_mapping_sink(struct sampler *s, const struct mapping_sink *sink);

/*
 * Determine again which file systems are local (MAPPING_REMOTE), as device numbers may
 * have been reused.
 */
void sampler_forget_mounts(struct sampler *s);

/* Returns the previous setting. */
bool sampler_set_paced(struct sampler *s, bool is_paced);

/*
 * Leave the sampler to a thread that hangs in the kernel while it uses the sampler. The
 * caller must not use the sampler again, and sampler_free() does nothing.
 */
void sampler_abandon(struct sampler *s);
void sampler_free(struct sampler *s);

/*
 * Sample the targets into *ret, which is cleared first: one usage per process. Returns 0,
 * or -errno if the processes cannot be listed.
 *
 * A process that cannot be read for lack of permission is included with its error set. A
 * process that has ended is missing (and marked is_gone in targets, if requested by pid).
 * Kernel threads are included only if requested by pid or name, zombies only by pid. A
 * process whose stat is malformed has the error -EBADMSG.
 */
int sampler_take(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/* Like proc_stat_read_rss(). */
int sampler_read_rss(struct sampler *s, int pid, uint64_t *ret_bytes);

/*
 * Like sampler_take() of every process, but pass each usage, including unreadable ones,
 * to fn as soon as it was read, and then discard it. *ret has no usages, only the times
 * and counts. A negative return of fn ends the sample and is returned.
 */
int sampler_take_each(struct sampler *s, unsigned int needs, usage_fn fn, void *context,
		      struct snapshot *ret);

/*
 * List the targets from the cheap files only: usages of source stat. Returns
 * like sampler_take().
 */
int sampler_list(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/*
 * Read the memory of u->process into *u. Returns 0, -ESRCH if the process has ended, or
 * another -errno; u->error is set to the same value.
 */
int sampler_read_usage(struct sampler *s, struct usage *u, unsigned int needs);

/*
 * Like sampler_read_usage() with NEED_SMAPS, and store every mapping, with its owner, in
 * *ret, whose former mappings are released. *ret is empty on failure.
 */
int sampler_read_mappings(struct sampler *s, struct usage *u, struct mapping_list *ret);

/*
 * Return the shortest interval in ns at which reading takes no more than per_mille of any
 * target's time, judging by the most expensive target of the last sampler_take(), whose
 * pid is *ret_pid. Returns 0 if per_mille is 0.
 */
uint64_t sampler_min_interval_ns(const struct sampler *s, unsigned int per_mille,
				 int *ret_pid);

#endif
