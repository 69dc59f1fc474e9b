/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies - keep the copies of heaps (pre_copy) between the walks of a series, one per
 * process, so that a further walk copies only the pages that were written in between.
 *
 * Meanwhile, the kernel continues to track the writes of the process: the first write to
 * each page after a walk costs the process about a microsecond. When memstate ends, even
 * by SIGKILL, the kernel ends the tracking.
 */
#ifndef MS_SAMPLE_HEAP_COPIES_H
#define MS_SAMPLE_HEAP_COPIES_H

#include "sample/heap/reader.h"

struct heap_copies;

struct heap_copies *heap_copies_new(void);

/* Release all copies and end the tracking. `copies` may be NULL. */
void heap_copies_free(struct heap_copies *copies);

/*
 * Begin a read: keep the copy that the previous read made. Release all copies if
 * memory is short.
 */
void heap_copies_begin(struct heap_reader *reader);

/*
 * Set the layout of reader->early for a copy of these mappings, which have this many
 * resident bytes, unless the copy will not be kept. Copies for leak scans are not
 * kept. Call this function before the copy is made, while no other member of
 * reader->early is set.
 */
void heap_copies_prepare(struct heap_reader *reader, const struct process *process,
			 const struct page_list *mappings, uint64_t bytes);

/* Move the kept copy of the process to reader->early. Return false if none is kept. */
bool heap_copies_take(struct heap_reader *reader, const struct process *process);

/*
 * Record that written_pages of all `pages` resident pages were written since the previous
 * walk. If these are most of the pages, the next copy is not kept.
 */
void heap_copies_judge(struct heap_reader *reader, uint64_t written_pages,
		       uint64_t pages);

/* Record the CPU time for copying all pages. */
void heap_copies_add_cost(struct heap_reader *reader, uint64_t cpu_ns);

/*
 * Keep the copy that the last read made, if it may be kept. The image of the reader,
 * which is a view of the copy, becomes empty.
 */
void heap_copies_store(struct heap_reader *reader);

/*
 * Return the part of the CPU time of the last read that later reads of the process will
 * not need, because its copy is kept. The result is nonzero only after the first copy
 * of a process.
 */
uint64_t heap_copies_saved_ns(const struct heap_reader *reader);

/*
 * Release the copies of processes for which is_followed() returns false, and all copies
 * if memory is short.
 */
void heap_copies_prune(struct heap_copies *copies, const struct procfs *fs,
		       bool (*is_followed)(void *context, const struct process *process),
		       void *context);

#endif
