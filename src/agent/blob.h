/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob - the helper, and the hooks that count, as they are put into a process: flat code that runs
 * wherever it is copied to.
 */
#ifndef MS_AGENT_BLOB_H
#define MS_AGENT_BLOB_H

#include <stddef.h>

/*
 * Begins with struct agent_blob_head, whose functions are all 0. NULL and 0 bytes if this
 * was built without the helper.
 */
const void *agent_blob(size_t *ret_bytes);

/* Likewise the hooks that count: begins with struct hooks_head, whose originals are all 0. */
const void *agent_hooks(size_t *ret_bytes);

/* The symbols that they stand for, by enum hook. */
extern const char *const agent_hook_names[];

/*
 * The name of a symbol that the helper calls, by enum agent_function; several, the first
 * that is there counts.
 */
#define AGENT_ALIAS_MAX 4 /* NULL ends them */
extern const char *const agent_function_names[][AGENT_ALIAS_MAX];

#endif
