/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room - compute how much more memory memstate may use before it or other
 * programs run out of memory.
 */
#ifndef MS_PROC_CGROUP_ROOM_H
#define MS_PROC_CGROUP_ROOM_H

#include <stdint.h>

#include "proc/system/procfs.h"

struct room {
	/* memory that may still be used, or BYTES_UNKNOWN if no limit is known */
	uint64_t bytes;
	/*
	 * name of the tightest limit, such as "the machine's free
	 * memory", or "" if unknown
	 */
	const char *limit;
};

/*
 * Return the smallest of: the machine's MemAvailable, the unused part of the limits of
 * memstate's cgroups (v1 and v2, counting their reclaimable page cache as free), and the
 * unused part of RLIMIT_AS. Limits that cannot be read are ignored.
 */
struct room proc_room_read(const struct procfs *fs);

#endif
