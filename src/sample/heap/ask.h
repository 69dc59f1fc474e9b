/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask - walk a heap and query its allocator. Internal to heap_reader.
 */
#ifndef MS_SAMPLE_HEAP_ASK_H
#define MS_SAMPLE_HEAP_ASK_H

#include "sample/heap/reader.h"

/* Implements heap_reader_read() with helpers, for mappings that were just read. */
int heap_ask(struct heap_reader *reader, struct usage *u, struct mapping_list *mappings,
	     struct heap *ret);

#endif
