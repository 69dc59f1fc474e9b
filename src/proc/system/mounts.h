/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mounts - determine which device numbers belong to tmpfs, because a mapping of a file on
 * tmpfs is shared memory.
 */
#ifndef MS_PROC_SYSTEM_MOUNTS_H
#define MS_PROC_SYSTEM_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/system/procfs.h"

/*
 * Cache of the device numbers queried so far. The kernel assigns device numbers globally,
 * so they are valid in all mount namespaces.
 */
struct tmpfs_devices {
	struct tmpfs_device {
		uint32_t major, minor;
		bool is_tmpfs;
	} * items;
	size_t count;
	size_t capacity;
};

#define TMPFS_DEVICES_INIT \
	{                  \
		NULL, 0, 0 \
	}

void tmpfs_devices_release(struct tmpfs_devices *devices);

/*
 * Return true if the device is a tmpfs. The first query for a device reads pid's
 * mountinfo. A device that mountinfo does not list does not count as tmpfs.
 */
bool proc_mounts_is_tmpfs(struct tmpfs_devices *devices, const struct procfs *fs, int pid,
			  uint32_t major, uint32_t minor);

/*
 * Add the devices of the tmpfs and devtmpfs mounts listed in the text of a mountinfo file
 * (proc_pid_mountinfo(5)) to the cache.
 */
void proc_mounts_parse(struct tmpfs_devices *devices, const char *text);

#endif
