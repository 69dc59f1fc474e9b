/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_report - what an allocator holds, for a person and as JSON.
 */
#ifndef MS_RENDER_HEAP_REPORT_H
#define MS_RENDER_HEAP_REPORT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/heap.h"
#include "model/usage.h"

/* Append a page. The heap's quality is not unknown. */
void heap_report_add_text(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, bool exact_bytes);

/* Append one line of JSON, "\n" included. Figures that are unknown are null. */
void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap);

#endif
