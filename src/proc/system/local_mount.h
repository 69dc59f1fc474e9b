/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_mount - check whether a file is on a local file system, which answers without the
 * help of another process or machine. The server of FUSE or a network file system can
 * delay a request indefinitely, and often no signal interrupts the wait.
 *
 * The check itself sends no request to a file system: the kernel reports the mount of a
 * descriptor in fdinfo, and the types of mounts in mountinfo.
 */
#ifndef MS_PROC_SYSTEM_LOCAL_MOUNT_H
#define MS_PROC_SYSTEM_LOCAL_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Value of process_fd for a file that memstate looks up in its own mount namespace, at a
 * path that other users may influence.
 */
#define LOCAL_MOUNT_OWN (-1000)

/*
 * Return true if file systems of this type are local. An overlay may have a FUSE file
 * system as its lower layer. It therefore counts as local only if trusts_overlays is set,
 * which means that only a privileged user can have mounted it.
 */
bool local_mount_is_type(const char *type, bool trusts_overlays);

/* Get the mount id of a descriptor, with or without O_PATH. Return 0 or -errno. */
int local_mount_find_id(int fd, uint64_t *ret);

/*
 * Check the file system of a descriptor. The descriptor should have O_PATH, because
 * opening a file without O_PATH already sends a request to its file system. process_fd is
 * the /proc directory of a process in the mount namespace of the file. With
 * LOCAL_MOUNT_OWN, network file systems in memstate's own namespace also pass the check,
 * because only root can mount them; FUSE does not. Return 0, -EREMOTE if the file system
 * may never answer or is unknown, or -errno.
 */
int local_mount_check(int process_fd, int fd);

#endif
