/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_types - names in pprof's format for memstate's own terms. Used by
 * pprof_pack.c and pprof_unpack.c.
 */
#ifndef MS_STORE_PROFILE_PPROF_TYPES_H
#define MS_STORE_PROFILE_PPROF_TYPES_H

#define PPROF_BYTES "bytes"
#define PPROF_COUNT "count"
#define PPROF_SPACE "space" /* period type of sampling by bytes */
#define PPROF_CUT "[cut]"   /* function name of FRAME_CUT */

/*
 * Comments for facts that the format has no fields for. A number or the command follows.
 */
#define PPROF_COMMAND "command: "
#define PPROF_PID "pid: "
#define PPROF_SAMPLE_COUNT "samples taken: "
#define PPROF_BY_POINTER "allocations with frames by frame pointers: "
#define PPROF_CUT_COUNT "allocations whose stack was cut: "
#define PPROF_LOST_COUNT "allocations in no stack: "

#endif
