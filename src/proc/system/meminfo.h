/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meminfo - read memory figures of the whole machine from /proc/meminfo. */
#ifndef MS_PROC_SYSTEM_MEMINFO_H
#define MS_PROC_SYSTEM_MEMINFO_H

#include <stdint.h>

#include "proc/system/procfs.h"

/*
 * Read the amount of a key such as "SwapTotal", in bytes. Return 0, -ENODATA if the key
 * is missing, -EBADMSG, or another -errno.
 */
int proc_meminfo_read(const struct procfs *fs, const char *key, uint64_t *ret_bytes);

/*
 * Find the amount of a key, in bytes, in the text of /proc/meminfo. Return 0, -ENODATA
 * if the key is missing, or -EBADMSG.
 */
int proc_meminfo_parse(const char *text, const char *key, uint64_t *ret_bytes);

#endif
