/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment - System V shared memory of ours for another process to attach, which needs no
 * descriptor there.
 */
#ifndef MS_PROBE_SEGMENT_H
#define MS_PROBE_SEGMENT_H

#include <stdint.h>
#include <sys/types.h>

#include "model/mapping.h"

/*
 * One for a process of that user, attached here. It is gone with the last process that
 * has it; till then it can still be attached by its number. flags: SHM_NORESERVE or 0.
 * Returns 0 or -errno.
 */
int segment_make(uint64_t bytes, uid_t uid, int flags, int *ret_segment, void **ret_memory);

/*
 * Attach one that a process has mapped there, of that size. Returns 0; -EINVAL: it is
 * none; -errno.
 */
int segment_attach(const struct mapping *m, uint64_t bytes, int *ret_segment, void **ret_memory);

bool segment_is_mapped(const struct mapping *m);

/* The process and memstate know the same numbers of segments. Returns 0 or -errno. */
int segment_is_shared_with(int process_fd, bool *ret);

#endif
