/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_devices - determine which file systems answer without the help of another process
 * or machine.
 *
 * The server of a FUSE or network file system can delay a read of a file, or of a page of
 * a mapped file, indefinitely, and no signal interrupts the read. A device counts as
 * local only if a mountinfo file lists it with a local type, because a process can hide
 * its mounts.
 *
 * An overlay may have a FUSE file system as its lower layer. It therefore counts as local
 * only if it is mounted in the mount namespace of memstate or of process 1, where only a
 * privileged user can have mounted it.
 */
#ifndef MS_PROC_SYSTEM_LOCAL_DEVICES_H
#define MS_PROC_SYSTEM_LOCAL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/*
 * Cache of the devices queried so far. Discard the cache soon, because the kernel may
 * reuse the number of an unmounted device.
 */
struct local_devices {
	struct local_device {
		uint32_t major, minor;
		bool is_local;
	} * items;
	size_t count, capacity;
};

#define LOCAL_DEVICES_INIT \
	{                  \
		NULL, 0, 0 \
	}

/* Free the contents of the cache and make it empty. */
void local_devices_release(struct local_devices *devices);

/*
 * Return true if the cache contains the device, and store whether the device is local in
 * *ret_is_local.
 */
bool local_devices_find(const struct local_devices *devices, uint32_t major,
			uint32_t minor, bool *ret_is_local);

/*
 * Return true if the device is local. The function reads the mounts of memstate, of
 * process 1, and of the process whose /proc directory is process_fd, and adds the device
 * to the cache.
 */
bool local_devices_learn(struct local_devices *devices, int process_fd, uint32_t major,
			 uint32_t minor);

/*
 * Add the local devices listed in the text of a mountinfo file (proc_pid_mountinfo(5)) to
 * the cache. Overlays count as local only if trusts_overlays is set.
 */
void local_devices_parse(struct local_devices *devices, const char *text,
			 bool trusts_overlays);

/*
 * Set MAPPING_REMOTE in each mapping whose file is not on a local device. process_fd is
 * the process's directory in /proc.
 */
void local_devices_mark(int process_fd, struct mapping_list *mappings);

#endif
