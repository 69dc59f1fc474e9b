/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_library - load libprotobuf-c when the first profile is read or written.
 */
#ifndef MS_STORE_PROFILE_PPROF_LIBRARY_H
#define MS_STORE_PROFILE_PPROF_LIBRARY_H

#include <stdbool.h>

/*
 * Load those functions of libprotobuf-c that memstate's generated code calls. Return
 * false on failure.
 */
bool pprof_library_load(void);

#endif
