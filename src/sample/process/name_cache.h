/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_cache - read the names of processes, each command line at most once.
 *
 * Reading /proc/PID/cmdline takes the process's mmap lock. If a thread of the process
 * holds this lock, the read blocks until the lock is released, which may never happen.
 * comm is in /proc/PID/stat, which can be read without the lock.
 */
#ifndef MS_SAMPLE_PROCESS_NAME_CACHE_H
#define MS_SAMPLE_PROCESS_NAME_CACHE_H

#include "model/process.h"
#include "model/process_name.h"
#include "proc/system/procfs.h"

struct name_cache;

struct name_cache *name_cache_new(void);

/* Free the cache, which may be NULL. */
void name_cache_free(struct name_cache *cache);

/* Begin a listing. Drop processes that were not looked up since the last call. */
void name_cache_begin(struct name_cache *cache);

/*
 * Return the names of a process, which are valid until the next name_cache_begin(). The
 * command line is read once, and again after an exec or another change of the comm or the
 * size of the address space. Return NULL if it must be read but the process is in state D
 * (uninterruptible), in which it may hold its mmap lock.
 */
const struct process_names *name_cache_read(struct name_cache *cache,
					    const struct procfs *fs,
					    const struct process *p);

#endif
