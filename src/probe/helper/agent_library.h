/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_library - find the library to preload into a program, so that the program
 * contains a helper from the start.
 */
#ifndef MS_PROBE_HELPER_AGENT_LIBRARY_H
#define MS_PROBE_HELPER_AGENT_LIBRARY_H

#include "proc/system/procfs.h"

/*
 * Find the library to preload: in the build tree if memstate runs from there, otherwise
 * where it is installed. The caller frees *ret. Return 0; -EOPNOTSUPP if memstate was
 * built without the library; -ENOENT if it is not found, with *ret set to the expected
 * path; or -EINVAL if the path contains a blank or a colon, which separate paths in
 * LD_PRELOAD. *ret is NULL on all other errors.
 */
int agent_library_find(char **ret);

/*
 * Find the memstate library with this file name, in the same way as agent_library_find().
 */
int agent_library_find_named(const char *name, char **ret);

/*
 * Return a copy of the environment with the library appended to LD_PRELOAD. The caller
 * frees the copy with agent_environment_free().
 */
char **agent_environment(char *const *environment, const char *library,
			 const struct procfs *fs);
void agent_environment_free(char **environment);

#endif
