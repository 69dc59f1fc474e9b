/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_families - which allocators a command calls by entry points beside malloc, such as
 * mallocx, and the libraries that count these.
 */
#ifndef MS_CMD_COUNT_FAMILIES_H
#define MS_CMD_COUNT_FAMILIES_H

#include "base/strbuf.h"

/*
 * Append ":LIBRARY" for each such allocator to out. command is run with environment;
 * allocator, a library that is preloaded besides, may be NULL. Returns NULL; or the name
 * of an entry point that the command looks for and its allocator lacks: then calls of
 * that allocator cannot be counted, as the library would have the name.
 */
const char *count_families_find(const char *command, const char *allocator,
				struct strbuf *out);

#endif
