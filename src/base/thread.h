/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread - start threads that receive no signals, and count the CPUs available to them.
 */
#ifndef MS_BASE_THREAD_H
#define MS_BASE_THREAD_H

#include <pthread.h>

/*
 * Start a thread with all signals blocked. If ret is NULL, the thread is detached.
 * Return 0; -EUSERS if the limit on threads is reached (ulimit -u, pids.max);
 * -ENOBUFS if there is no address space or memory for the thread's stack (ulimit
 * -v); or another -errno.
 */
int thread_start(pthread_t *ret, void *(*work)(void *context), void *context);

/* Return the number of CPUs on which memstate may run. */
unsigned int thread_count_cpus(void);

#endif
