/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob - the code that memstate injects into a process: the helper, and the counting
 * hooks. Both are flat position-independent code.
 */
#ifndef MS_AGENT_BLOB_H
#define MS_AGENT_BLOB_H

#include <stddef.h>

/*
 * Return the helper's code and data, which begin with struct agent_blob_head. The
 * addresses of functions are 0; the caller sets them in a copy. If memstate was built
 * without the helper, return NULL and set *ret_bytes to 0.
 */
const void *agent_blob(size_t *ret_bytes);

/*
 * Return the code and data of the counting hooks, which begin with struct hooks_head. The
 * addresses of the original functions are 0; the caller sets them in a copy. If memstate
 * was built without the helper, return NULL and set *ret_bytes to 0.
 */
const void *agent_hooks(size_t *ret_bytes);

/* The names of the functions that the hooks replace, indexed by enum hook. */
extern const char *const agent_hook_names[];

/*
 * The names of the functions that the helper calls, indexed by enum agent_function. If a
 * function has several names, the helper uses the first one that the process defines.
 */
/* maximum number of names per function, including the terminating NULL */
#define AGENT_ALIAS_MAX 4
extern const char *const agent_function_names[][AGENT_ALIAS_MAX];

#endif
