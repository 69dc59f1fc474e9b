/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_sampler - measure the memory of all processes of one run of a command, as one sum.
 *
 * The processes of a run are the descendants of a parent, which adopts their orphans
 * (PR_SET_CHILD_SUBREAPER). The descendants of one child may be excluded. Wrappers
 * (shells, env, timeout and other programs that only start another program) are left out
 * as soon as they have started that program. A process forked by a wrapper is left out
 * until it calls exec.
 */
#ifndef MS_SAMPLE_RUN_RUN_SAMPLER_H
#define MS_SAMPLE_RUN_RUN_SAMPLER_H

#include "model/comparison.h"
#include "proc/process/cost.h"
#include "sample/heap/keeper.h"

struct run_sampler;

/*
 * Create a sampler. fs, sampler and heaps are borrowed. If heaps is NULL, the heaps of
 * the processes are not read.
 */
struct run_sampler *run_sampler_new(const struct procfs *fs, struct sampler *sampler,
				    struct heap_keeper *heaps, int parent_pid);
void run_sampler_free(struct run_sampler *s);

/*
 * Begin a new run. `library` is the file name of a library that the processes of the run
 * should map, or NULL. run_sampler_has_seen_library() returns whether any process has
 * mapped it.
 */
void run_sampler_begin(struct run_sampler *s, const char *library);

/*
 * Exclude one child of the parent, with all its descendants, from the run. If the pid is
 * 0, exclude none.
 */
void run_sampler_leave_out(struct run_sampler *s, int pid);

/*
 * Sample the run into *ret. If is_fresh is set, walk every heap now. Otherwise walk the
 * heaps only if Rss is at least 5 % higher than at all earlier walks, or if a twentieth
 * of the run's duration has passed since the last walk. Heap walks take at most a fifth
 * of the time. A heap whose last walk is too old is reported as unknown. Return the
 * number of processes, or -errno.
 */
int run_sampler_take(struct run_sampler *s, bool is_fresh, struct run_sample *ret);

/*
 * Return true if the last sample showed that all earlier samples contained only wrappers,
 * so those samples do not belong to the run.
 */
bool run_sampler_must_discard(const struct run_sampler *s);

/*
 * List the current processes of the run, including wrappers. *ret is borrowed until
 * the next call. Return 0 or -errno.
 */
int run_sampler_list(struct run_sampler *s, const struct snapshot **ret);

/* Return the sum of the resources used so far by the processes of the run. */
void run_sampler_read_cost(struct run_sampler *s, struct process_cost *ret);

/* Return the highest VmHWM of any process of the run so far, in bytes. */
uint64_t run_sampler_peak_rss_bytes(const struct run_sampler *s);
bool run_sampler_has_seen_library(const struct run_sampler *s);
/*
 * Return true if the run had wrappers (shells, env and other programs that only start
 * another program). The memory of wrappers is not counted.
 */
bool run_sampler_has_wrappers(const struct run_sampler *s);

/*
 * Return the time in ns for which heap walks have paused the run. Only samples in which
 * the run consisted of a single process count, apart from wrappers.
 */
uint64_t run_sampler_paused_ns(const struct run_sampler *s);

/*
 * Return the longest time in ns for which reading locked a process's memory map in the
 * last sample.
 */
uint64_t run_sampler_read_ns(const struct run_sampler *s);

#endif
