/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_room - how much more memory this program may take before somebody, itself the
 * first, suffers.
 */
#ifndef MS_PROC_PROC_ROOM_H
#define MS_PROC_PROC_ROOM_H

#include <stdint.h>

#include "proc/procfs.h"

struct room {
	uint64_t bytes;	   /* BYTES_UNKNOWN: no limit is known */
	const char *limit; /* which one that is: "the machine's free memory"; "" if none is known */
};

/*
 * The least of what the machine has (MemAvailable), what the cgroups of this program
 * leave it, of version 1 and 2, less what can be dropped of their page cache, and
 * RLIMIT_AS. What cannot be read is no limit.
 */
struct room proc_room_read(const struct procfs *fs);

#endif
