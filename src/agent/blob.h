/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob - the code that memstate injects into a process: the helper, and the counting
 * hooks. Both are flat position-independent code.
 */
#ifndef MS_AGENT_BLOB_H
#define MS_AGENT_BLOB_H

#include <stddef.h>

/*
 * Return the helper's blob, which begins with struct agent_blob_head; all its functions
 * are 0. Return NULL and 0 bytes if memstate was built without the helper.
 */
const void *agent_blob(size_t *ret_bytes);

/*
 * Return the blob of counting hooks, which begins with struct hooks_head; all its
 * originals are 0. Return NULL and 0 bytes if memstate was built without the helper.
 */
const void *agent_hooks(size_t *ret_bytes);

/* The symbols that the hooks replace, by enum hook. */
extern const char *const agent_hook_names[];

/*
 * The symbols that the helper calls, by enum agent_function. If there are several names,
 * the first one that the process defines is used.
 */
#define AGENT_ALIAS_MAX 4 /* including the terminating NULL */
extern const char *const agent_function_names[][AGENT_ALIAS_MAX];

#endif
