/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pre_copy - report how a heap was copied before the pause. */
#ifndef MS_RENDER_HEAP_PRE_COPY_H
#define MS_RENDER_HEAP_PRE_COPY_H

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/heap.h"

/*
 * Append the duration of the pause and the size of the copy, such as "paused for 20ms to
 * copy 1.5G" or "paused for 20ms to copy the last 2M of 1.5G".
 */
void pre_copy_add_text(struct strbuf *out, const struct heap *heap, bool exact_bytes);

/* Append a line about huge pages that were split, or nothing if none were split. */
void pre_copy_add_split(struct strbuf *out, const struct heap *heap);

/*
 * Add the JSON member "pre_copy". It is null if memstate copied no part of the heap in
 * advance, before a pause.
 */
void pre_copy_add_json(struct json *j, const struct heap *heap);

#endif
