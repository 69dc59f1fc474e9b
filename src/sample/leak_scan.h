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

#include "classify/leaks.h"
#include "sample/heap_reader.h"

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
