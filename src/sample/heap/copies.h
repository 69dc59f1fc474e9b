/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies - keep a copy of each process's heap (pre_copy.h) between successive heap walks,
 * so that the next walk copies only the pages that the process has written since.
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
 * Prepare for the next read: keep the copy from the previous read, and release all copies
 * if memory is short.
 */
void heap_copies_begin(struct heap_reader *reader);

/*
 * Choose the layout in which reader->early will store a copy of these mappings, of which
 * `bytes` are resident. Choose none if the copy will not be kept, such as a copy for a
 * leak scan. Call this function before the copy is made, while no other member of
 * reader->early is set.
 */
void heap_copies_prepare(struct heap_reader *reader, const struct process *process,
			 const struct page_list *mappings, uint64_t bytes);

/* Move the kept copy of the process to reader->early. Return false if no copy is kept. */
bool heap_copies_take(struct heap_reader *reader, const struct process *process);

/*
 * Record how many of the process's resident pages (`pages`) were written since the
 * previous walk. If these are more than half, no further copies of the process are kept.
 */
void heap_copies_judge(struct heap_reader *reader, uint64_t written_pages,
		       uint64_t pages);

/* Record the CPU time that copying all pages took, for heap_copies_saved_ns(). */
void heap_copies_add_cost(struct heap_reader *reader, uint64_t cpu_ns);

/*
 * If the copy that the last read made can be kept, store it for the next read of the
 * process. The image of the reader, which is a view of the copy, becomes empty.
 */
void heap_copies_store(struct heap_reader *reader);

/*
 * Return how much of the CPU time of the last read will be saved by later reads of the
 * process, because its copy is kept. The result is nonzero only after the first copy of
 * a process.
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
