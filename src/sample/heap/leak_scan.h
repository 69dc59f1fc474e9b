/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_scan - find the unreachable live blocks of a process: pause it, copy its memory
 * including everything that may hold pointers, resume it, walk the heap, and mark.
 *
 * The reader must have copies_roots set. The results refer to the reader's blocks and
 * image, which are valid until its next read.
 */
#ifndef MS_SAMPLE_HEAP_LEAK_SCAN_H
#define MS_SAMPLE_HEAP_LEAK_SCAN_H

#include "classify/heap/leaks.h"
#include "sample/heap/reader.h"

/*
 * Scan the process of *u, which is read again with its heap as heap_reader_read()
 * does. Calls on_leak for each direct leak during the scan, and progress, which may be
 * NULL, in between.
 *
 * Returns 0; -ECANCELED if progress requested that; or like heap_reader_read(). *ret is
 * initialized in every case; the caller releases it before the reader.
 */
int leak_scan_run(struct heap_reader *reader, struct usage *u,
		  const struct mark_progress *progress, mark_leak_fn *on_leak,
		  void *context, struct leak_scan *ret);
void leak_scan_release(struct leak_scan *scan);

#endif
