/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early_keep - keep a copy of a process's memory (early_copy) after the process has been
 * released, and continue to track writes. A later copy then needs only the pages that
 * were written in the meantime.
 *
 * The kept copy is never trusted: for a later copy, memstate stops the process again, and
 * copies all pages that may have been written, that are not tracked, or that the kept
 * copy lacks. The result is therefore the memory of the stopped process, no matter how
 * the process has changed its mappings.
 */
#ifndef MS_TRACEE_MEMORY_EARLY_KEEP_H
#define MS_TRACEE_MEMORY_EARLY_KEEP_H

#include "tracee/memory/early_copy.h"

/* Return true if the copy may be kept for later reads, which requires a layout. */
static inline bool early_copy_is_kept(const struct early_copy *copy)
{
	return copy->layout.count > 0;
}

/*
 * Add the resident pages that the kept copy lacks to copy->late. Only early_copy_select()
 * calls this function.
 */
void early_keep_list_missing(struct early_copy *copy, const struct image *image);

/*
 * Like early_copy_finish(), but for a copy that is kept. *image, which describes all
 * resident pages but has no memory yet, takes over the memory of copy->store. The copies
 * of pages that are no longer resident are released. The offsets in the image have gaps,
 * and image->length_bytes includes these gaps.
 */
int early_keep_finish(struct early_copy *copy, struct image *image,
		      const struct image *late);

/*
 * Return the memory of the image from early_keep_finish() to copy->store. The image is
 * empty afterwards.
 */
void early_keep_return(struct early_copy *copy, struct image *image);

/*
 * Continue to track the writes for a kept copy, after early_keep_return() has returned
 * the memory of the copy. The given ranges replace the previous ones. They must be
 * sorted, and copy->layout must contain them. The next early_copy_round() copies the
 * pages that were written since the last round of the previous copy. Return 0, -EBUSY if
 * another userfaultfd tracks a range, or another -errno. After an error, the kept copy
 * must be released.
 */
int early_keep_renew(struct early_copy *copy, int pagemap_fd,
		     const struct early_range *ranges, size_t count);

#endif
