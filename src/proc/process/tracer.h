/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer - find the process that traces another process. */
#ifndef MS_PROC_PROCESS_TRACER_H
#define MS_PROC_PROCESS_TRACER_H

#include <stdbool.h>

#include "proc/system/procfs.h"

#define TRACER_NAME_SIZE 64

struct tracer_process {
	int pid;
	/* command name of the tracer; may contain any bytes except NUL */
	char name[TRACER_NAME_SIZE];
};

/*
 * Find the process that traces the main thread of pid. Return false if there is no
 * tracer, or if the tracer is not visible to memstate.
 */
bool proc_tracer_find(const struct procfs *fs, int pid, struct tracer_process *ret);

/* Return true if the tracer is another process with the same command name as memstate. */
bool proc_tracer_is_memstate(const struct procfs *fs,
			     const struct tracer_process *tracer);

#endif
