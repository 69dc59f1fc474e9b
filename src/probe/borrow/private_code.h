/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * private_code - find code that memstate has written into a process's private memory.
 *
 * Such memory has no name and no descriptor: only a process that may trace the
 * target can write to it. A later memstate recognizes the code by comparing it with
 * its own copy. Anyone who could forge the same bytes at a chosen address already
 * controls the target.
 */
#ifndef MS_PROBE_BORROW_PRIVATE_CODE_H
#define MS_PROBE_BORROW_PRIVATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/*
 * Return true if the mapping is private, anonymous memory with exactly
 * these access rights.
 */
bool private_code_is_mapping(const struct mapping *m, uint32_t access);

/*
 * Return true if all memory in the range is private, anonymous, readable, executable and
 * not writable.
 */
bool private_code_covers(const struct mapping_list *mappings, uint64_t addr,
			 uint64_t bytes);

/*
 * Find pages of private, read-only code that contain two given words at a given offset.
 * Every page of a mapping is checked, because the kernel may have merged adjacent
 * mappings. In a mapping of more than 2 MiB, only the first and the last MiB are
 * searched. Return the number of pages found, at most `max`.
 */
struct private_code_mark {
	uint32_t words[2];
	uint64_t offset;
};
size_t private_code_find(const struct mapping_list *mappings, int mem_fd,
			 const struct private_code_mark *mark, uint64_t *ret, size_t max);

#endif
