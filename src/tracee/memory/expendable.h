/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expendable - a thread that may never return.
 *
 * A read of another process's memory can block in the kernel for as long as a file
 * system does not answer, and no signal ends such a read. The owner of an expendable
 * thread can abandon it. Everything that the work uses must then outlive the thread:
 * see expendable_end().
 */
#ifndef MS_TRACEE_MEMORY_EXPENDABLE_H
#define MS_TRACEE_MEMORY_EXPENDABLE_H

#include <stdbool.h>
#include <stdint.h>

struct expendable;

/*
 * Start a thread that waits for work. The thread blocks all signals and runs at the
 * highest priority that this user may set. Return NULL if no thread can be started.
 */
struct expendable *expendable_new(void);

/* Let the thread call work(context). The thread must not be busy. */
void expendable_run(struct expendable *e, int (*work)(void *context), void *context);

/*
 * Wait until the work has returned, at most until until_ns (monotonic clock). Return true
 * if it has returned; *ret_result is then its result.
 */
bool expendable_wait(struct expendable *e, uint64_t until_ns, int *ret_result);

/*
 * The work calls this function to let the thread in expendable_wait() call
 * function(argument): ptrace(2) requests work only from the tracing thread. Return the
 * result of function, or -ETIMEDOUT if that thread no longer waits.
 */
int expendable_call_owner(struct expendable *e, int (*function)(void *argument),
			  void *argument);

/*
 * End and free the thread if it is not busy. Otherwise abandon it and return false:
 * the thread ends when the work returns, if ever, after it has called
 * free_context(context) unless free_context is NULL.
 */
bool expendable_end(struct expendable *e, void (*free_context)(void *context));

#endif
