/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler - take samples of the targets: find the processes, read the required figures of
 * each process, and measure what reading costs the process.
 *
 * The sampler reads smaps_rollup if its fields suffice, otherwise smaps. It caches
 * whatever makes the next sample cheaper. The functions must not be called from two
 * threads at the same time.
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

/*
 * Create a sampler with a copy of *fs, whose descriptor is borrowed. A paced sampler
 * pauses now and then while it reads smaps, so that threads waiting for the mmap lock can
 * acquire it.
 */
struct sampler *sampler_new(const struct procfs *fs, bool is_paced);

/*
 * Set the function that reads heaps. From now on, it is called instead of
 * sampler_read_mappings() for usages with NEED_HEAP. If no function is set, the heaps are
 * unknown. The mappings belong to the sampler and are valid only during the call.
 */
void sampler_set_heap_source(struct sampler *s,
			     int (*read)(void *context, struct usage *u,
					 struct mapping_list *mappings),
			     void *context);

/*
 * Callbacks that receive the mappings of each process for which wants() returns true. The
 * owners of the mappings are already set. The mappings are valid only during the call.
 */
struct mapping_sink {
	bool (*wants)(void *context, const struct process *process);
	void (*take)(void *context, const struct usage *u,
		     const struct mapping_list *mappings);
	void *context;
};

/*
 * From now on, read processes with all their mappings, if the needs or the sink require
 * mappings. The sink is copied; NULL removes it.
 */
void sampler_set_mapping_sink(struct sampler *s, const struct mapping_sink *sink);

/*
 * Determine again which file systems are local (MAPPING_REMOTE), because device numbers
 * may have been reused.
 */
void sampler_forget_mounts(struct sampler *s);

/* Turn pacing on or off. Return the previous setting. */
bool sampler_set_paced(struct sampler *s, bool is_paced);

/*
 * Leave the sampler to a thread that hangs in the kernel while using it. The caller must
 * not use the sampler again; sampler_free() does nothing for an abandoned sampler.
 */
void sampler_abandon(struct sampler *s);
void sampler_free(struct sampler *s);

/*
 * Sample the targets into *ret, which is cleared first: one usage per process. Return 0,
 * or -errno if the processes cannot be listed.
 *
 * A process that cannot be read for lack of permission is included with its error set. A
 * process that has ended is missing from *ret, and is marked is_gone in targets if it
 * was requested by pid. Kernel threads are included only if requested by pid or name,
 * and zombies only if requested by pid. A process whose stat file is malformed has the
 * error -EBADMSG.
 */
int sampler_take(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/* Return the sampler's own copy of the procfs. */
const struct procfs *sampler_procfs(const struct sampler *s);

/*
 * Sample every process like sampler_take(), but pass each usage to fn as soon as it is
 * read, including those of unreadable processes, and then discard it. *ret receives only
 * the times and counts. A negative return value of fn ends the sample and is returned.
 */
int sampler_take_each(struct sampler *s, unsigned int needs, usage_fn fn, void *context,
		      struct snapshot *ret);

/*
 * List the targets without reading expensive files: only the figures from /proc/PID/stat
 * are set (SOURCE_STAT). Return the same values as sampler_take().
 */
int sampler_list(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/*
 * Read the memory of u->process into *u. Return 0, -ESRCH if the process has ended, or
 * another -errno; u->error is set to the return value.
 */
int sampler_read_usage(struct sampler *s, struct usage *u, unsigned int needs);

/*
 * Read a usage like sampler_read_usage() with NEED_SMAPS, and store every mapping with
 * its owner in *ret, whose former mappings are released. On failure, *ret is empty.
 */
int sampler_read_mappings(struct sampler *s, struct usage *u, struct mapping_list *ret);

/*
 * Return the shortest sampling interval in ns at which reading takes at most per_mille of
 * the time of any target. The result is based on the most expensive target of the last
 * sampler_take(), whose pid is *ret_pid. Return 0 if per_mille is 0.
 */
uint64_t sampler_min_interval_ns(const struct sampler *s, unsigned int per_mille,
				 int *ret_pid);

#endif
