/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_devices - which file systems answer without another process or machine.
 *
 * Reading a file, or a page of a mapped file, of FUSE or a network file system can take as
 * long as its server likes, and no signal ends that. A device counts as local only if a
 * mountinfo file says so: a process can hide its mounts. An overlay can have a FUSE file
 * system below, so it counts only if memstate or process 1 sees it, where only a
 * privileged user can have mounted it.
 */
#ifndef MS_PROC_LOCAL_DEVICES_H
#define MS_PROC_LOCAL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/* Devices seen so far. The kernel may give the number of an unmounted one to another. */
struct local_devices {
	struct local_device {
		uint32_t major, minor;
		bool is_local;
	} *items;
	size_t count, capacity;
};

#define LOCAL_DEVICES_INIT \
	{                  \
		NULL, 0, 0 \
	}

/* Forgets all of them. */
void local_devices_release(struct local_devices *devices);

/* True if the device has been seen; *ret_is_local is then set. */
bool local_devices_find(const struct local_devices *devices, uint32_t major,
			uint32_t minor, bool *ret_is_local);

/*
 * The same after a look at the mounts of the process whose directory in /proc is
 * process_fd, and at those of memstate and of process 1.
 */
bool local_devices_learn(struct local_devices *devices, int process_fd, uint32_t major,
			 uint32_t minor);

/* Remember the local devices of a mountinfo text (proc_pid_mountinfo(5)). */
void local_devices_parse(struct local_devices *devices, const char *text,
			 bool trusts_overlays);

/* Mark the mappings of a process with MAPPING_REMOTE where their file is not on one. */
void local_devices_mark(int process_fd, struct mapping_list *mappings);

#endif
