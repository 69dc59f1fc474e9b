/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment - System V shared memory for data that a process and memstate exchange without
 * a descriptor in the process. It never holds code or anything that controls code: other
 * processes of the same user may attach it, too.
 */
#ifndef MS_PROBE_BORROW_SEGMENT_H
#define MS_PROBE_BORROW_SEGMENT_H

#include <stdint.h>
#include <sys/types.h>

#include "model/mapping.h"

/*
 * Make a segment and attach it here. It belongs to memstate's user, and disappears with
 * the last process that has it attached. flags: SHM_NORESERVE or 0. Return 0 or -errno.
 */
int segment_make(uint64_t bytes, int flags, int *ret_segment, void **ret_memory);

/*
 * Let processes of a user attach the segment, and revoke that right; processes that have
 * attached it keep it. Nothing changes if memstate runs as that user. Return 0 or -errno.
 */
int segment_lend(int segment, uid_t uid);
int segment_reclaim(int segment);

/* Return the effective user of a process, from its directory in /proc; or -errno. */
int64_t segment_user_of(int process_fd);

bool segment_is_mapped(const struct mapping *m);

/* Return whether the mapping is the whole of a segment of this size, from its start. */
bool segment_is_whole(const struct mapping *m, uint64_t bytes);

/*
 * Set *ret to whether the process and memstate share an ipc
 * namespace. Return 0 or -errno.
 */
int segment_is_shared_with(int process_fd, bool *ret);

#endif
