/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_rows - the part of a process report about the heaps of malloc and of language
 * runtimes, with the resident bytes of each heap.
 */
#ifndef MS_RENDER_PROCESS_HEAP_ROWS_H
#define MS_RENDER_PROCESS_HEAP_ROWS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/usage.h"

/*
 * Append a separator and the titles of the heaps, such as "glibc malloc and Go heap". If
 * no heap was read, append the title of the malloc that was identified from the mappings,
 * if any.
 */
void usage_heaps_add_titles(struct strbuf *out, const struct usage *u,
			    const char *separator);

/* Append the table of the process's heaps. */
void usage_heaps_add_rows(struct strbuf *out, const struct usage *u, bool exact_bytes);

#endif
