/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_rows - the heaps of a process in its report: those of malloc and of language
 * runtimes, with the resident bytes of each.
 */
#ifndef MS_RENDER_PROCESS_HEAP_ROWS_H
#define MS_RENDER_PROCESS_HEAP_ROWS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/usage.h"

/*
 * Append the separator and the titles of the heaps, such as "glibc malloc and Go heap".
 * If no heap was read, append the title of the malloc that the mappings show, if any.
 */
void usage_heaps_add_titles(struct strbuf *out, const struct usage *u,
			    const char *separator);

/* Append the table of heaps. */
void usage_heaps_add_rows(struct strbuf *out, const struct usage *u, bool exact_bytes);

#endif
