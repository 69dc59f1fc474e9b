/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expendable - a thread that its owner can abandon. A read of another process's memory
 * can block in the kernel until a file system answers, and no signal ends such a read.
 * memstate makes these reads in an expendable thread. Everything that an abandoned thread
 * uses must outlive the thread: see expendable_end().
 */
#ifndef MS_TRACEE_MEMORY_EXPENDABLE_H
#define MS_TRACEE_MEMORY_EXPENDABLE_H

#include <stdbool.h>
#include <stdint.h>

struct expendable;

/*
 * Start a thread that waits for work. The thread blocks all signals and runs at the
 * highest priority that this user may set. Return 0 or -errno from thread_start().
 */
int expendable_new(struct expendable **ret);

/* Let the thread call work(context). The thread must be idle. */
void expendable_run(struct expendable *e, int (*work)(void *context), void *context);

/*
 * Wait until the work has returned, or until the time until_ns (on CLOCK_MONOTONIC).
 * Return true, with the result of the work in *ret_result, if the work has returned.
 */
bool expendable_wait(struct expendable *e, uint64_t until_ns, int *ret_result);

/*
 * Make the owner, which is waiting in expendable_wait(), call function(argument). The
 * work function uses this for ptrace(2), which accepts requests only from the tracing
 * thread. Return the result of function, or -ETIMEDOUT if the owner is no longer waiting.
 */
int expendable_call_owner(struct expendable *e, int (*function)(void *argument),
			  void *argument);

/*
 * End the thread and free it if it has no work. Otherwise abandon the thread and return
 * false. If the work of an abandoned thread returns, the thread calls
 * free_context(context), unless free_context is NULL, and then ends.
 */
bool expendable_end(struct expendable *e, void (*free_context)(void *context));

#endif
