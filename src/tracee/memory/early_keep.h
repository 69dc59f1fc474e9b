/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early_keep - after the pause, keep a copy of a process's memory (early_copy), and
 * continue to track writes. A later copy then needs only the pages that were written in
 * the meantime.
 *
 * The kept copy is never trusted: in the pause, memstate copies all pages that may have
 * been written, that are not tracked, or that the kept copy lacks. The result is
 * therefore the memory of the stopped process, no matter how the process has changed its
 * mappings.
 */
#ifndef MS_TRACEE_MEMORY_EARLY_KEEP_H
#define MS_TRACEE_MEMORY_EARLY_KEEP_H

#include "tracee/memory/early_copy.h"

/* Return true if the copy has a layout; only such a copy may be kept. */
static inline bool early_copy_is_kept(const struct early_copy *copy)
{
	return copy->layout.count > 0;
}

/*
 * For early_copy_select(): add the resident pages that the copy lacks to copy->late.
 */
void early_keep_list_missing(struct early_copy *copy, const struct image *image);

/*
 * Like early_copy_finish(), but for a copy that is kept. *image has the runs of all
 * resident pages, but no memory yet. It takes over the memory of the store, and thus
 * becomes a view of the store. The memory of pages that are no longer resident is
 * released. The offsets of the runs have gaps, and image->length_bytes includes these
 * gaps.
 */
int early_keep_finish(struct early_copy *copy, struct image *image,
		      const struct image *late);

/* Return the memory of the view to the store. The image is empty afterwards. */
void early_keep_return(struct early_copy *copy, struct image *image);

/*
 * Continue to track the writes for a kept copy, after early_keep_return() has returned
 * the memory to the store. These ranges replace the previous ones. They must be sorted,
 * and the layout must contain them. Afterwards, the first early_copy_round() copies the
 * pages that were written since the last round of the previous copy. Return 0, -EBUSY if
 * another userfaultfd tracks a range, or another -errno. After an error, the kept copy
 * must be released.
 */
int early_keep_renew(struct early_copy *copy, int pagemap_fd,
		     const struct early_range *ranges, size_t count);

#endif
