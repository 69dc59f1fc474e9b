/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob - the helper as it is put into a process: flat code that runs wherever it is copied to.
 */
#ifndef MS_AGENT_BLOB_H
#define MS_AGENT_BLOB_H

#include <stddef.h>

/*
 * Begins with struct agent_blob_head, whose functions are all 0. NULL and 0 bytes if this
 * was built without the helper.
 */
const void *agent_blob(size_t *ret_bytes);

/*
 * The name of a symbol that the helper calls, by enum agent_function; several, the first
 * that is there counts.
 */
#define AGENT_ALIAS_MAX 4 /* NULL ends them */
extern const char *const agent_function_names[][AGENT_ALIAS_MAX];

#endif
