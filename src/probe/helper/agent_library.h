/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent_library - find the library that gives a program a helper from the start. */
#ifndef MS_PROBE_HELPER_AGENT_LIBRARY_H
#define MS_PROBE_HELPER_AGENT_LIBRARY_H

#include "proc/system/procfs.h"

/*
 * Find the library: beside this program in a build tree, or else where it is
 * installed. Return 0, and the caller frees *ret; -EOPNOTSUPP: memstate was built
 * without it; -ENOENT: not found, and *ret is the path where it should be; -EINVAL:
 * the path contains a blank or a colon, which separate paths in LD_PRELOAD. *ret is
 * NULL on all other errors.
 */
int agent_library_find(char **ret);

/* Find another library of memstate by its file name. */
int agent_library_find_named(const char *name, char **ret);

/*
 * Return a copy of an environment with the library added at the end of LD_PRELOAD. The
 * caller frees it with agent_environment_free().
 */
char **agent_environment(char *const *environment, const char *library,
			 const struct procfs *fs);
void agent_environment_free(char **environment);

#endif
