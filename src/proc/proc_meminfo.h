/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_meminfo - /proc/meminfo: amounts of the whole machine.
 */
#ifndef MS_PROC_PROC_MEMINFO_H
#define MS_PROC_PROC_MEMINFO_H

#include <stdint.h>

#include "proc/procfs.h"

/*
 * The amount of a key, as "SwapTotal". Returns 0, -ENODATA if there is none, or another
 * -errno.
 */
int proc_meminfo_read(const struct procfs *fs, const char *key, uint64_t *ret_bytes);

/* The same from its text. Returns 0, -ENODATA, or -EBADMSG. */
int proc_meminfo_parse(const char *text, const char *key, uint64_t *ret_bytes);

#endif
