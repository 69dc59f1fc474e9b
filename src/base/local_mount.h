/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_mount - whether a file is on a file system that answers without another process or
 * machine. A request to FUSE or a network file system can take as long as its server likes, and
 * often no signal ends the wait.
 *
 * The decision itself asks no file system: the kernel reports the mount of a descriptor in fdinfo,
 * and the types of mounts in mountinfo.
 */
#ifndef MS_BASE_LOCAL_MOUNT_H
#define MS_BASE_LOCAL_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* For process_fd: files that memstate itself uses, whose path others have influenced. */
#define LOCAL_MOUNT_OWN (-1000)

/*
 * Whether file systems of this type are local. An overlay can have FUSE below it, so it counts
 * only with trusts_overlays: where only a privileged user can have mounted it.
 */
bool local_mount_is_type(const char *type, bool trusts_overlays);

/* Find the mount of a descriptor, O_PATH or not. Returns 0 or -errno. */
int local_mount_find_id(int fd, uint64_t *ret);

/*
 * Check a descriptor, which should have O_PATH: opening without it is a request. process_fd is the
 * directory in /proc of a process in whose mount namespace the file is. With LOCAL_MOUNT_OWN,
 * network file systems of memstate's own namespace are accepted too, but not FUSE: only root
 * mounts the former. Returns 0, -EREMOTE if the file system may never answer or is unknown, or
 * -errno.
 */
int local_mount_check(int process_fd, int fd);

#endif
