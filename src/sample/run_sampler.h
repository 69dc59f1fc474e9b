/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_sampler - the memory of all processes of one run of a command, as one sum.
 *
 * A run's processes are those below a parent, which adopts the orphans among them
 * (PR_SET_CHILD_SUBREAPER), but not those below one of its children that is named. Shells
 * and programs that only start another one (env, timeout …) are left out once they have.
 */
#ifndef MS_SAMPLE_RUN_SAMPLER_H
#define MS_SAMPLE_RUN_SAMPLER_H

#include "model/comparison.h"
#include "proc/proc_cost.h"
#include "sample/heap_keeper.h"

struct run_sampler;

/* The procfs, the sampler and the keeper (NULL: heaps are not read) are borrowed. */
struct run_sampler *run_sampler_new(const struct procfs *fs, struct sampler *sampler,
				    struct heap_keeper *heaps, int parent_pid);
void run_sampler_free(struct run_sampler *s);

/*
 * A new run begins, whose processes have this library in their memory: its file's name,
 * of which one may be found out with run_sampler_has_seen_library(). NULL: not looked
 * for.
 */
void run_sampler_begin(struct run_sampler *s, const char *library);

/* Who is below this child of the parent is not of the run; 0: none is left out. */
void run_sampler_leave_out(struct run_sampler *s, int pid);

/*
 * Sample into *ret. With is_fresh every heap is walked now; without, when Rss is higher
 * by a part than at any walk before, or the last one is a part of the run ago, but for no
 * more than a fifth of the time. Heaps that were walked too long ago are unknown. Returns
 * the number of processes, or -errno.
 */
int run_sampler_take(struct run_sampler *s, bool is_fresh, struct run_sample *ret);

/*
 * All that earlier samples were of turned out in this one to be wrappers: they are not of
 * the run.
 */
bool run_sampler_forgets(const struct run_sampler *s);

/* The processes there are, wrappers too: borrowed until the next call. Returns 0 or -errno. */
int run_sampler_list(struct run_sampler *s, const struct snapshot **ret);

/* What they have used so far: the sum. */
void run_sampler_read_cost(struct run_sampler *s, struct process_cost *ret);

/* Of the run so far. */
uint64_t run_sampler_peak_rss_bytes(const struct run_sampler *s); /* the largest process's VmHWM */
bool run_sampler_has_seen_library(const struct run_sampler *s);
bool run_sampler_has_wrappers(const struct run_sampler *s); /* some were left out */

/* How long walks have stopped the run, while it was a single process. */
uint64_t run_sampler_paused_ns(const struct run_sampler *s);

/* How long reading kept the dearest process's memory map busy in the last sample. */
uint64_t run_sampler_read_ns(const struct run_sampler *s);

#endif
