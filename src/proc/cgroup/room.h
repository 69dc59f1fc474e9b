/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room - compute how much more memory memstate may use without exhausting memory for
 * itself or other programs.
 */
#ifndef MS_PROC_CGROUP_ROOM_H
#define MS_PROC_CGROUP_ROOM_H

#include <stdint.h>

#include "proc/system/procfs.h"

struct room {
	/* amount that memstate may still use, or BYTES_UNKNOWN if no limit is known */
	uint64_t bytes;
	/*
	 * name of the limit that determines `bytes`, such as "the machine's free memory",
	 * or ""
	 */
	const char *limit;
};

/*
 * Return the smallest of three amounts: the machine's MemAvailable, the unused part of
 * the limits of memstate's cgroups, and the unused part of RLIMIT_AS. Inactive page cache
 * of a cgroup counts as unused. Limits that cannot be read are ignored.
 */
struct room proc_room_read(const struct procfs *fs);

#endif
