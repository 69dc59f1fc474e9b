/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/allocator_signs.h"

#include <string.h>

#include "model/known_names.h"

static void add_library(struct allocator_signs *signs, const struct library_name *library)
{
	if (library->allocator != ALLOCATOR_GLIBC && library->allocator != ALLOCATOR_MUSL)
		/*
		 * A library in LD_PRELOAD is loaded first and therefore has the highest
		 * address.
		 */
		signs->other = library->allocator;
	else if (signs->libc == ALLOCATOR_UNKNOWN)
		signs->libc = library->allocator;
}

void allocator_signs_add(struct allocator_signs *signs, const struct mapping *m)
{
	const struct library_name *library;
	uint64_t rss_bytes = m->counters.bytes[SMAPS_RSS];
	const uint32_t private = MAPPING_READ | MAPPING_WRITE;

	if (m->inode == 0 && strcmp(m->name, "[stack]") != 0 &&
	    (m->flags & (private | MAPPING_SHARED | MAPPING_HUGETLB)) == private) {
		bool is_go = is_heap_of_go(m);

		signs->has_go = signs->has_go || is_go;
		rss_bytes = bytes_known(rss_bytes) ? rss_bytes : 0;
		signs->anonymous_bytes += rss_bytes;
		signs->go_bytes += is_go ? rss_bytes : 0;
	}
	library = m->flags & MAPPING_EXEC && m->inode != 0 ? library_name_find(m->name) : NULL;
	if (library)
		add_library(signs, library);
}

enum allocator allocator_signs_find(const struct allocator_signs *signs)
{
	if (signs->has_go && signs->go_bytes >= signs->anonymous_bytes - signs->go_bytes)
		return ALLOCATOR_GO;
	return signs->other != ALLOCATOR_UNKNOWN ? signs->other : signs->libc;
}

bool allocator_is_unreadable(enum allocator allocator)
{
	return allocator == ALLOCATOR_GO || allocator == ALLOCATOR_TCMALLOC ||
	       allocator == ALLOCATOR_MIMALLOC;
}
