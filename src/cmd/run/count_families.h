/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_families - find the allocators whose additional entry points, such as mallocx, a
 * command calls, and the libraries that count these calls.
 */
#ifndef MS_CMD_COUNT_FAMILIES_H
#define MS_CMD_COUNT_FAMILIES_H

#include "base/strbuf.h"

/*
 * Append ":LIBRARY" to out for each allocator whose additional entry points the command
 * calls. command is the program to run; allocator is a library to preload, or NULL.
 * Return NULL if all these calls can be counted. Otherwise return the static name of an
 * entry point that the command imports but the preloaded allocator lacks. Calls to the
 * additional entry points of this allocator are then not counted, because the counting
 * library would define the missing name.
 */
const char *count_families_find(const char *command, const char *allocator,
				struct strbuf *out);

#endif
