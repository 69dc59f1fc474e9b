/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_library - the library that a program is started with, so that it has a helper
 * from the start.
 */
#ifndef MS_PROBE_AGENT_LIBRARY_H
#define MS_PROBE_AGENT_LIBRARY_H

#include "proc/procfs.h"

/*
 * Its path: beside this program where it was built, or else where it is installed.
 * Returns 0, the caller frees *ret; -EOPNOTSUPP: this was built without; -ENOENT: it is
 * at neither place, *ret is where it should be; -EINVAL: the path has a blank or a colon,
 * which LD_PRELOAD takes for its end. *ret is NULL but with -ENOENT and -EINVAL.
 */
int agent_library_find(char **ret);

/* Another one that memstate brings along, by the name of its file. */
int agent_library_find_named(const char *name, char **ret);

/*
 * A copy of an environment in which the library is in LD_PRELOAD, behind what is there
 * already. Each of its strings, and itself, are the caller's: agent_environment_free().
 */
char **agent_environment(char *const *environment, const char *library, const struct procfs *fs);
void agent_environment_free(char **environment);

#endif
