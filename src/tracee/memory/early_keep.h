/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early_keep - keep a copy of the memory of a process (early_copy) after the pause, and
 * the tracking of writes with it, so that a later copy needs only the pages that were
 * written in the meantime.
 *
 * The kept copy is never trusted: in the pause, all pages are copied that may have been
 * written, that are not tracked, or that the kept copy lacks. So the result is the memory
 * of the stopped process, however the process has changed its mappings.
 */
#ifndef MS_TRACEE_MEMORY_EARLY_KEEP_H
#define MS_TRACEE_MEMORY_EARLY_KEEP_H

#include "tracee/memory/early_copy.h"

/*
 * Return true if the copy has a layout, so that it may be kept.
 */
static inline bool early_copy_is_kept(const struct early_copy *copy)
{
	return copy->layout.count > 0;
}

/*
 * For early_copy_select(): add the resident pages that the copy lacks to copy->late.
 */
void early_keep_list_missing(struct early_copy *copy, const struct image *image);

/*
 * Do the work of early_copy_finish() for a copy that is kept: make *image, which has the
 * runs of all resident pages and no memory, a view of the store, and move the memory of
 * the store to *image. The memory of pages that are no longer resident is released. The
 * offsets of the view have gaps; its length_bytes includes them.
 */
int early_keep_finish(struct early_copy *copy, struct image *image,
		      const struct image *late);

/* Return the memory of the view to the store. The image is empty afterwards. */
void early_keep_return(struct early_copy *copy, struct image *image);

/*
 * Continue to track a kept copy, whose store has its memory. These ranges, sorted and in
 * the layout, replace the previous ones. Afterwards, the first early_copy_round() copies
 * the pages that were written since the last round of the previous copy. Return 0, -EBUSY
 * if another userfaultfd tracks a range, or another -errno. After an error, the kept copy
 * must be released.
 */
int early_keep_renew(struct early_copy *copy, int pagemap_fd,
		     const struct early_range *ranges, size_t count);

#endif
