/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_types - the names that memstate's terms have in profiles in pprof's format.
 * pprof_pack.c writes these names, and pprof_unpack.c reads them.
 */
#ifndef MS_STORE_PROFILE_PPROF_TYPES_H
#define MS_STORE_PROFILE_PPROF_TYPES_H

#define PPROF_BYTES "bytes"
#define PPROF_COUNT "count"
#define PPROF_SPACE "space" /* period type of a profile that was sampled by bytes */
#define PPROF_CUT "[cut]"   /* function name of a frame at which a stack was cut */

/*
 * Prefixes of comments in a profile. The comments contain facts for which pprof's format
 * has no fields: the prefix is followed by a command or a number.
 */
#define PPROF_COMMAND "command: "
#define PPROF_PID "pid: "
#define PPROF_SAMPLE_COUNT "samples taken: "
#define PPROF_BY_POINTER "allocations with frames by frame pointers: "
#define PPROF_CUT_COUNT "allocations whose stack was cut: "
#define PPROF_LOST_COUNT "allocations in no stack: "

#endif
