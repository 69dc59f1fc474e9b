/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - the heaps of processes where --heap asks for them, and what to say where they cannot be read.
 */
#ifndef MS_CMD_HEAPS_H
#define MS_CMD_HEAPS_H

#include "cmd/session.h"
#include "model/heap.h"
#include "sample/heap_reader.h"

/*
 * Read the memory of u again, with its heap, if --heap says so and *u could be read at all. Where
 * the heap cannot be read its owners stay unknown, and that is said. mappings as for
 * sampler_read_mappings().
 */
void heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings);

/* The same for each usage of a snapshot; failures are said the first time. */
void heaps_read_all(struct session *session, struct snapshot *snapshot);

/* Why heap_reader_read() did not read it, or gave a heap of unknown quality (r is 0 then). */
void heaps_report_failure(const struct usage *u, const struct heap *heap, int r);

#endif
