/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_tracer - who traces a process.
 */
#ifndef MS_PROC_PROC_TRACER_H
#define MS_PROC_PROC_TRACER_H

#include <stdbool.h>

#include "proc/procfs.h"

#define TRACER_NAME_SIZE 64

struct tracer_process {
	int pid;
	char name[TRACER_NAME_SIZE]; /* comm: may contain anything */
};

/* Returns false if nobody traces the process's main thread, or nobody who can be seen. */
bool proc_tracer_find(const struct procfs *fs, int pid, struct tracer_process *ret);

/* True if it has the name of this program, and is another process. */
bool proc_tracer_is_memstate(const struct procfs *fs, const struct tracer_process *tracer);

#endif
