/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_scan - which live blocks of a process nothing reaches any more: stop it, copy its
 * memory with all that may hold pointers, let it go, walk the heap, mark.
 *
 * A reader that is to be used for it has copies_roots set; the blocks and the image that
 * results speak of are the reader's, until its next read.
 */
#ifndef MS_SAMPLE_LEAK_SCAN_H
#define MS_SAMPLE_LEAK_SCAN_H

#include "model/heap.h"
#include "sample/heap_reader.h"
#include "walk/mark.h"

struct leak_scan {
	struct mapping_list mappings;
	struct heap heap;
	/*
	 * Of all below: exact; bound, when some memory could not be looked at: then
	 * blocks that seem leaked may be reached from there; unknown, when the heap is
	 * not known exactly: then there is nothing below.
	 */
	enum quality quality;
	const char *problem;	/* why it is not exact; NULL if it is */
	uint64_t swapped_bytes; /* that could not be looked at */

	struct mark mark;
	/* resident memory: reachable + leaked = the owner live of the matrix */
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t mark_ns; /* CPU and waiting, after the target went on */
};

/*
 * Scan the process of *u, which is read again with its heap as heap_reader_read() does.
 * on_leak is called for each direct leak while that goes on, and progress, which may be
 * NULL, in between.
 *
 * Returns 0; -ECANCELED when progress said so; or as heap_reader_read(). *ret is
 * initialised in every case, and is to be released before the reader is.
 */
int leak_scan_run(struct heap_reader *reader, struct usage *u,
		  const struct mark_progress *progress, mark_leak_fn *on_leak,
		  void *context, struct leak_scan *ret);
void leak_scan_release(struct leak_scan *scan);

#endif
