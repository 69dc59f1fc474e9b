/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pre_copy - copy a heap that is too large for a pause while the process runs, until the
 * pages that were written during the last round can be copied in a pause.
 *
 * For this, memstate makes a thread of the process execute two system calls
 * (probe/track). The first write to each page after it was copied then costs the process
 * a microsecond, and splits the mapping of a huge page.
 */
#ifndef MS_SAMPLE_HEAP_PRE_COPY_H
#define MS_SAMPLE_HEAP_PRE_COPY_H

#include "sample/heap/reader.h"

/* The expected cost of a pause. */
struct pre_copy_costs {
	/* time for stopping the threads, and for scanning and checking the pages */
	uint64_t fixed_ns;
	uint64_t copy_ns_per_gib;
};

/*
 * Copy the memory of the process to reader->early, whose ranges are then tracked.
 * `mappings` are those of the last reading. Return 0; -EFBIG with ret->problem if this is
 * not possible or not permitted, or if the process writes too fast; -ENOMEM with the
 * needed and the available memory in *heap; or another -errno. After an error,
 * reader->early is empty, and the process is no longer tracked.
 */
int heap_pre_copy_begin(struct heap_reader *reader, const struct usage *u,
			const struct mapping_list *mappings,
			const struct pre_copy_costs *costs, struct heap *heap);

/*
 * Free reader->early. Count the huge pages that tracking has split, and restore them if
 * memstate has the permission. Call this function when the pause has ended.
 */
void heap_pre_copy_end(struct heap_reader *reader, int pid, struct heap_pre_copy *ret);

#endif
