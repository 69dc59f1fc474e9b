/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_mounts - which device numbers are tmpfs: a mapping of a file there is shared memory.
 */
#ifndef MS_PROC_PROC_MOUNTS_H
#define MS_PROC_PROC_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/procfs.h"

/* Device numbers seen so far. They are the kernel's, so they hold across mount namespaces. */
struct tmpfs_devices {
	struct tmpfs_device {
		uint32_t major, minor;
		bool is_tmpfs;
	} *items;
	size_t count;
	size_t capacity;
};

#define TMPFS_DEVICES_INIT { NULL, 0, 0 }

void tmpfs_devices_release(struct tmpfs_devices *devices);

/*
 * Is the file system of this device a tmpfs? The first time a device is asked for, pid's
 * mountinfo is read. A device that is not in it counts as none.
 */
bool proc_mounts_is_tmpfs(struct tmpfs_devices *devices, const struct procfs *fs, int pid,
			  uint32_t major, uint32_t minor);

/* Remember the tmpfs mounts of a mountinfo text (proc_pid_mountinfo(5)). */
void proc_mounts_parse(struct tmpfs_devices *devices, const char *text);

#endif
