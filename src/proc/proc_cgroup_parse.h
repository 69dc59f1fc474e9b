/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup_parse - the texts of a group's files: memory.stat, memory.pressure, and lines
 * "KEY VALUE" as in memory.events and memory.oom_control.
 */
#ifndef MS_PROC_PROC_CGROUP_PARSE_H
#define MS_PROC_PROC_CGROUP_PARSE_H

#include <stdbool.h>

#include "model/cgroup.h"

/* The number on the line that begins with this key and a blank. False: there is none. */
bool cgroup_find_value(const char *text, const char *key, uint64_t *ret);

/* What the text has; the rest of *ret stays as it is. */
void cgroup_stat_parse(enum cgroup_version version, const char *text, struct cgroup_stat *ret);

/*
 * memory.kmem.slabinfo: the slabs of inodes and names, and of sockets. Both stay as they are
 * if the text has no caches, which is so since Linux 5.9.
 */
void cgroup_slabs_parse(const char *text, struct cgroup_kernel *ret);

/* memory.pressure, as of proc/pressure. False, with *ret undefined, if it is another text. */
bool cgroup_pressure_parse(const char *text, struct cgroup_pressure *ret);

#endif
