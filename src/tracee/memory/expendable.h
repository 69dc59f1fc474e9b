/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expendable - a thread that may never return.
 *
 * Reading another process's memory can block in the kernel for as long as a file system
 * does not answer, and no signal ends that. Such work is done in a thread that its owner
 * can give up. Whatever the work uses must outlive the thread then: see expendable_end().
 */
#ifndef MS_TRACEE_MEMORY_EXPENDABLE_H
#define MS_TRACEE_MEMORY_EXPENDABLE_H

#include <stdbool.h>
#include <stdint.h>

struct expendable;

/*
 * Start a thread that waits. It blocks all signals, and runs at the highest priority that
 * this user may have. Returns NULL if there is no thread to be had.
 */
struct expendable *expendable_new(void);

/* Have the thread, which is not busy, call work(context). */
void expendable_run(struct expendable *e, int (*work)(void *context), void *context);

/* Wait until the work has returned, or until a time of the monotonic clock. True if it has. */
bool expendable_wait(struct expendable *e, uint64_t until_ns, int *ret_result);

/*
 * Called by the work: have the thread that is in expendable_wait() call function(argument),
 * and return its result; -ETIMEDOUT if it no longer waits. ptrace(2) obeys only the thread
 * that traces.
 */
int expendable_call_owner(struct expendable *e, int (*function)(void *argument),
			  void *argument);

/*
 * End the thread if it is not busy. Otherwise abandon it: it ends when the work returns,
 * if ever, after free_context(context) unless that is NULL. Returns false in this case.
 */
bool expendable_end(struct expendable *e, void (*free_context)(void *context));

#endif
