/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse - parse the files of a cgroup: memory.stat, memory.pressure, and "KEY
 * VALUE" lines as in memory.events and memory.oom_control.
 */
#ifndef MS_PROC_CGROUP_PARSE_H
#define MS_PROC_CGROUP_PARSE_H

#include <stdbool.h>

#include "model/cgroup.h"

/*
 * Find the line that begins with `key` and a space, and store its number in *ret. Return
 * false if there is no such line.
 */
bool cgroup_find_value(const char *text, const char *key, uint64_t *ret);

/*
 * Parse memory.stat. If the text lacks a key, the corresponding member of *ret
 * is unchanged.
 */
void cgroup_stat_parse(enum cgroup_version version, const char *text,
		       struct cgroup_stat *ret);

/*
 * Parse memory.kmem.slabinfo: add up the sizes of the slabs for inodes and dentries, and
 * separately those of the slabs for sockets. Since Linux 5.9 the file is empty, and *ret
 * is unchanged.
 */
void cgroup_slabs_parse(const char *text, struct cgroup_kernel *ret);

/*
 * Parse memory.pressure, which has the format of /proc/pressure. Return false, with *ret
 * undefined, if the text is not in this format.
 */
bool cgroup_pressure_parse(const char *text, struct cgroup_pressure *ret);

#endif
