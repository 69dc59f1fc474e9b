/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * private_code - code that memstate has written into private memory of a process.
 *
 * Such memory has no name and no descriptor: only a process that may trace the target can
 * write it. A later memstate recognizes it by its bytes, which it compares with those
 * that it carries itself. Whoever can put the same bytes at a place of its choice in the
 * target has that target in its hands already.
 */
#ifndef MS_PROBE_PRIVATE_CODE_H
#define MS_PROBE_PRIVATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/* Memory without a file that only this process has, with exactly these rights. */
bool private_code_is_mapping(const struct mapping *m, uint32_t access);

/* Is the whole range private, anonymous, readable and executable, and never writable? */
bool private_code_covers(const struct mapping_list *mappings, uint64_t addr, uint64_t bytes);

/*
 * Find pages of such memory that have these two words at an offset. Adjacent mappings
 * merge, so each page may be the first. Of a mapping of more than 2 MiB only the first
 * and the last MiB are searched. Returns how many were found, max at most.
 */
struct private_code_mark {
	uint32_t words[2];
	uint64_t offset;
};
size_t private_code_find(const struct mapping_list *mappings, int mem_fd,
			 const struct private_code_mark *mark, uint64_t *ret, size_t max);

#endif
