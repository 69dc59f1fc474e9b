/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helpers - find, inject, query and remove helpers: code inside target processes that
 * queries their allocators.
 *
 * An injected helper stays until helpers_free(). If memstate is killed, the helper exits
 * after one idle minute. A helper that was preloaded when its process started stays until
 * the process ends. The functions must not be called from two threads at the same time.
 */
#ifndef MS_SAMPLE_HEAP_HELPERS_H
#define MS_SAMPLE_HEAP_HELPERS_H

#include "model/helper_answer.h"
#include "model/process.h"
#include "proc/system/procfs.h"
#include "sample/process/sampler.h"

struct helpers;

/*
 * Create a set of helpers, with a copy of *fs. If wants_text is set, queries also return
 * the text of malloc_info(3) or an equivalent of other allocators.
 */
struct helpers *helpers_new(const struct procfs *fs, bool allows_stall, bool wants_text);

/*
 * Permit the injection of helpers into the processes that these targets select by pid or
 * name, but not into child processes. The names are borrowed.
 */
void helpers_allow(struct helpers *helpers, const struct targets *targets);

/*
 * Remove all injected helpers and free the set. If on_left is not NULL, it is called for
 * each process in which something could not be removed; its argument `what` is the
 * reason, without a full stop.
 */
void helpers_free(struct helpers *helpers,
		  void (*on_left)(void *context, int pid, const char *what),
		  void *context);

/*
 * Find the helper of a process, or inject one. *ret is always initialized; if there is no
 * helper, error and problem in *ret contain the reason. After failed injections, the
 * delay before the next attempt doubles from one second to about a minute. If injection
 * is not permitted, the search is repeated sooner.
 */
void helpers_open(struct helpers *helpers, const struct process *p,
		  struct helper_answer *ret);

/*
 * Query the helper that helpers_open() found, if any, and store the allocator's figures
 * in *ret, but not the bounds. If the previous figures are so recent that another query
 * would cost the process too much, return them again. free_chunks is the number of free
 * chunks that a heap walk counted, or BYTES_UNKNOWN.
 */
void helpers_ask(struct helpers *helpers, const struct process *p, uint64_t free_chunks,
		 struct helper_answer *ret);

#endif
