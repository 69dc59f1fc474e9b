/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_types - the strings that represent memstate's terms in pprof's format, for
 * pprof_pack.c and pprof_unpack.c.
 */
#ifndef MS_STORE_PROFILE_PPROF_TYPES_H
#define MS_STORE_PROFILE_PPROF_TYPES_H

#define PPROF_BYTES "bytes"
#define PPROF_COUNT "count"
/* pprof's type of the sampling period if memory is sampled once per N allocated bytes */
#define PPROF_SPACE "space"
/* name of the frame that replaces the missing callers of a truncated stack */
#define PPROF_CUT "[cut]"

/*
 * Prefixes of comments in a profile. Each prefix is followed by a command or a number,
 * for which pprof's format has no field.
 */
#define PPROF_COMMAND "command: "
#define PPROF_PID "pid: "
#define PPROF_SAMPLE_COUNT "samples taken: "
#define PPROF_BY_POINTER "allocations with frames by frame pointers: "
#define PPROF_CUT_COUNT "allocations whose stack was cut: "
#define PPROF_LOST_COUNT "allocations in no stack: "

#endif
