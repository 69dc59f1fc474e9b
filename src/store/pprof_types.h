/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_types - what profiles of pprof's format call what memstate knows: of pprof_pack.c
 * and pprof_unpack.c.
 */
#ifndef MS_STORE_PPROF_TYPES_H
#define MS_STORE_PPROF_TYPES_H

#define PPROF_BYTES "bytes"
#define PPROF_COUNT "count"
#define PPROF_SPACE "space" /* what is sampled by bytes */
#define PPROF_CUT   "[cut]" /* a function: FRAME_CUT */

/*
 * Comments that say what the format has no fields for: these, and a number or the
 * command.
 */
#define PPROF_COMMAND	   "command: "
#define PPROF_PID	   "pid: "
#define PPROF_SAMPLE_COUNT "samples taken: "
#define PPROF_BY_POINTER   "allocations with frames by frame pointers: "
#define PPROF_CUT_COUNT	   "allocations whose stack was cut: "
#define PPROF_LOST_COUNT   "allocations in no stack: "

#endif
