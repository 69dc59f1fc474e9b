/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler - one sample of the targets: who they are, what is read of each, and what that
 * costs them.
 *
 * Reads smaps_rollup where its fields are enough and smaps where they are not. Keeps what
 * makes the next sample cheaper. One thread at a time.
 */
#ifndef MS_SAMPLE_SAMPLER_H
#define MS_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"
#include "proc/procfs.h"
#include "sample/targets.h"

typedef int (*usage_fn)(void *context, const struct usage *u);

struct sampler;

/* The descriptor in fs is borrowed. */
struct sampler *sampler_new(const struct procfs *fs, bool is_paced);

/*
 * From now on usages with NEED_HEAP are read with this, as sampler_read_mappings() would;
 * without it the heap is unknown. The mappings are the sampler's, for the time of the
 * call.
 */
void sampler_set_heap_source(struct sampler *s,
			     int (*read)(void *context, struct usage *u,
					 struct mapping_list *mappings),
			     void *context);

/* Who is given all mappings of some processes, with their owners, for the time of a call. */
struct mapping_sink {
	bool (*wants)(void *context, const struct process *process);
	void (*take)(void *context, const struct usage *u, const struct mapping_list *mappings);
	void *context;
};

/*
 * From now on usages are read with all their mappings where the needs have them, or the
 * sink, which is copied, wants them. NULL: no more.
 */
void sampler_set_mapping_sink(struct sampler *s, const struct mapping_sink *sink);

/*
 * Look again which file systems are local (MAPPING_REMOTE): numbers of devices may have
 * been reused.
 */
void sampler_forget_mounts(struct sampler *s);

/* Returns how it was. */
bool sampler_set_paced(struct sampler *s, bool is_paced);

/*
 * Leave the sampler to a thread that hangs in the kernel while it uses the sampler: it must
 * not be used again, and sampler_free() does nothing.
 */
void sampler_abandon(struct sampler *s);
void sampler_free(struct sampler *s);

/*
 * Sample the targets into *ret, which is cleared first: one usage per process. Returns 0,
 * or -errno if the processes cannot be listed.
 *
 * A process that cannot be read for want of permission is there with its error set. One
 * that ended is not there (and is_gone in targets, if asked for by pid). Kernel threads
 * are there only when asked for, by pid or name, and zombies when asked for by pid. One
 * whose stat is spoilt has the error -EBADMSG.
 */
int sampler_take(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/* As proc_stat_read_rss(). */
int sampler_read_rss(struct sampler *s, int pid, uint64_t *ret_bytes);

/*
 * As sampler_take() of every process, but each usage, unreadable ones too, is given to fn
 * when it was read, and then forgotten: *ret has no usages, but the times and counts. A
 * negative return of fn ends it and is its result.
 */
int sampler_take_each(struct sampler *s, unsigned int needs, usage_fn fn, void *context,
		      struct snapshot *ret);

/*
 * Only who the targets are, from the cheap files: usages of source stat. Returns as above.
 */
int sampler_list(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret);

/*
 * Read the memory of u->process into *u. Returns 0, -ESRCH when it has ended, or another
 * -errno, which is then u->error too.
 */
int sampler_read_usage(struct sampler *s, struct usage *u, unsigned int needs);

/*
 * As sampler_read_usage() with NEED_SMAPS, and keep every mapping, with its owner, in
 * *ret, whose former mappings are released. Empty on failure.
 */
int sampler_read_mappings(struct sampler *s, struct usage *u, struct mapping_list *ret);

/*
 * The shortest interval at which reading takes no more of any target's time than
 * per_mille of it, from what the last sampler_take() cost the dearest one. 0 if per_mille
 * is 0.
 */
uint64_t sampler_min_interval_ns(const struct sampler *s, unsigned int per_mille, int *ret_pid);

#endif
