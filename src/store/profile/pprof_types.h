/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_types - the names by which profiles in pprof's format contain memstate's terms.
 * pprof_pack.c writes and pprof_unpack.c reads these names.
 */
#ifndef MS_STORE_PROFILE_PPROF_TYPES_H
#define MS_STORE_PROFILE_PPROF_TYPES_H

#define PPROF_BYTES "bytes"
#define PPROF_COUNT "count"
#define PPROF_SPACE "space" /* period type of a profile that was sampled by bytes */
#define PPROF_CUT "[cut]"   /* name of the function of a FRAME_CUT */

/*
 * Prefixes of comments in a profile, for facts that pprof's format has no fields for. The
 * command or a number follows.
 */
#define PPROF_COMMAND "command: "
#define PPROF_PID "pid: "
#define PPROF_SAMPLE_COUNT "samples taken: "
#define PPROF_BY_POINTER "allocations with frames by frame pointers: "
#define PPROF_CUT_COUNT "allocations whose stack was cut: "
#define PPROF_LOST_COUNT "allocations in no stack: "

#endif
