/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helpers - the helpers inside target processes: find, inject, query and remove them.
 *
 * An injected helper stays until helpers_free(). If memstate is killed, the helper exits
 * after one idle minute. A helper that was preloaded when its process started stays for
 * good. The functions must not be called from two threads at the same time.
 */
#ifndef MS_SAMPLE_HEAP_HELPERS_H
#define MS_SAMPLE_HEAP_HELPERS_H

#include "model/helper_answer.h"
#include "model/process.h"
#include "proc/system/procfs.h"
#include "sample/process/sampler.h"

struct helpers;

/*
 * Create a set of helpers, with a copy of *fs. With wants_text, queries also fetch the
 * text of malloc_info(3) or of its equivalent in other allocators.
 */
struct helpers *helpers_new(const struct procfs *fs, bool allows_stall, bool wants_text);

/*
 * Permit injection into the processes that these targets select by pid or name, but not
 * into their children. The names are borrowed.
 */
void helpers_allow(struct helpers *helpers, const struct targets *targets);

/*
 * Remove the injected helpers and free everything. on_left is called for each process
 * in which something was left behind; it may be NULL. Its argument `what` says what
 * was left behind, without a full stop.
 */
void helpers_free(struct helpers *helpers,
		  void (*on_left)(void *context, int pid, const char *what),
		  void *context);

/*
 * Find or inject the helper of the process. *ret is initialized; its error and
 * problem give the reason if there is no helper. After a failed injection, wait one
 * second before the next attempt, then two, up to about a minute. Without
 * permission to inject, retry sooner.
 */
void helpers_open(struct helpers *helpers, const struct process *p,
		  struct helper_answer *ret);

/*
 * Query the helper that helpers_open() found, if any. *ret receives the figures, without
 * bounds. If the last figures are so recent that a new query would cost the process too
 * much, *ret receives the last figures again. free_chunks is the number of free chunks
 * that a walk counted, or BYTES_UNKNOWN.
 */
void helpers_ask(struct helpers *helpers, const struct process *p, uint64_t free_chunks,
		 struct helper_answer *ret);

#endif
