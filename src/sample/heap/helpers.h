/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helpers - the helpers in target processes: find or inject them, query
 * them, remove them.
 *
 * An injected helper stays until helpers_free(). If memstate is killed, the helper exits
 * after one idle minute. A helper that was preloaded at the start of the process stays.
 * One thread at a time.
 */
#ifndef MS_SAMPLE_HEAP_HELPERS_H
#define MS_SAMPLE_HEAP_HELPERS_H

#include "model/helper_answer.h"
#include "model/process.h"
#include "proc/system/procfs.h"
#include "sample/process/sampler.h"

struct helpers;

/* The procfs is borrowed. wants_text: also fetch malloc_info(3) and its equivalents. */
struct helpers *helpers_new(const struct procfs *fs, bool allows_stall, bool wants_text);

/*
 * Permit injection into processes that these targets name by pid or name, but not into
 * their children. Names are borrowed.
 */
void helpers_allow(struct helpers *helpers, const struct targets *targets);

/*
 * Remove the injected helpers and free everything. on_left, which may be NULL, is
 * called for each process in which something was left behind; `what` names it in words
 * without a full stop.
 */
void helpers_free(struct helpers *helpers,
		  void (*on_left)(void *context, int pid, const char *what),
		  void *context);

/*
 * Make sure that the process has a helper. *ret is initialized; its error and problem say
 * why there is no helper. After a failure the next attempt is made after one second, then
 * two, up to a minute; sooner where injection is not permitted.
 */
void helpers_open(struct helpers *helpers, const struct process *p,
		  struct helper_answer *ret);

/*
 * Query the helper that helpers_open() found, if any. *ret receives the figures,
 * without bounds. If the last figures are so recent that a new query would cost the
 * process too much, they are returned again. free_chunks: the number that a walk
 * counted, or BYTES_UNKNOWN.
 */
void helpers_ask(struct helpers *helpers, const struct process *p, uint64_t free_chunks,
		 struct helper_answer *ret);

#endif
