/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment - System V shared memory through which a process and memstate exchange data,
 * without a descriptor in the process. The memory never contains code, or data that
 * controls code, because other processes of the same user can also attach it.
 */
#ifndef MS_PROBE_BORROW_SEGMENT_H
#define MS_PROBE_BORROW_SEGMENT_H

#include <stdint.h>
#include <sys/types.h>

#include "model/mapping.h"

/*
 * Create a segment and attach it to memstate. The segment belongs to memstate's user,
 * and disappears when the last process detaches it. `flags` is SHM_NORESERVE or 0.
 * Return 0 or -errno.
 */
int segment_make(uint64_t bytes, int flags, int *ret_segment, void **ret_memory);

/*
 * segment_allow() allows processes of a user to attach the segment. segment_revoke()
 * withdraws the permission, but does not detach the segment from any process. If
 * memstate runs as that user, both functions change nothing. Return 0 or -errno.
 */
int segment_allow(int segment, uid_t uid);
int segment_revoke(int segment);

/*
 * Return the effective user id of a process, or -errno. process_fd is a descriptor
 * of /proc/PID.
 */
int64_t segment_user_of(int process_fd);

bool segment_is_mapped(const struct mapping *m);

/* Return true if the mapping is a whole System V segment of this size. */
bool segment_is_whole(const struct mapping *m, uint64_t bytes);

/*
 * Set *ret to true if the process and memstate are in the same ipc namespace. Return 0
 * or -errno.
 */
int segment_is_shared_with(int process_fd, bool *ret);

#endif
