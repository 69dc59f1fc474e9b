/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/allocator_signs.h"

#include <string.h>

#include "model/known_names.h"

/*
 * PartitionAlloc (Chromium) reserves two adjacent pools of 16 GiB each, aligned to 32
 * GiB. The first super page of the first pool begins with an inaccessible page or
 * partition page (at most 0x4000 bytes), followed by memory in use. All nine processes of
 * a Chromium 156 (browser, zygotes, GPU, utility, renderers) had this layout and no
 * [heap].
 */
#define POOLS_BYTES (UINT64_C(32) << 30)
#define PARTITION_PAGE_BYTES 0x4000

/*
 * V8's sandbox contains a pool for ArrayBuffers that begins like PartitionAlloc's pools,
 * but is followed by more than this many bytes of reserved memory.
 */
#define POOLS_NEIGHBOURS_BYTES (UINT64_C(256) << 30)

static bool is_private_anonymous(const struct mapping *m)
{
	return m->inode == 0 && !(m->flags & (MAPPING_SHARED | MAPPING_HUGETLB)) &&
	       (m->name[0] == '\0' || strncmp(m->name, "[anon:", strlen("[anon:")) == 0);
}

static void add_to_pools(struct partition_pools *pools, const struct mapping *m)
{
	const uint32_t used = MAPPING_READ | MAPPING_WRITE;
	uint64_t rss_bytes = m->counters.bytes[SMAPS_RSS];
	uint64_t addr = m->start_addr & ~(POOLS_BYTES - 1),
		 skipped = m->start_addr - addr;

	if (!is_private_anonymous(m)) {
		pools->run_end_addr = 0;
		return;
	}
	if (m->start_addr != pools->run_end_addr) {
		pools->run_addr = m->start_addr;
		pools->addr = 0;
	}
	pools->run_end_addr = m->end_addr;
	if ((m->flags & used) == used && skipped > 0 && skipped <= PARTITION_PAGE_BYTES &&
	    pools->run_addr <= addr) {
		pools->addr = addr;
		pools->seen_bytes = 0;
	}
	pools->seen_bytes += bytes_known(rss_bytes) ? rss_bytes : 0;
	if (pools->addr == 0 || m->end_addr - pools->addr < POOLS_BYTES)
		return;
	if (m->end_addr - pools->addr - POOLS_BYTES < POOLS_NEIGHBOURS_BYTES) {
		if (!pools->is_found) {
			pools->found_addr = pools->addr;
			pools->found_end_addr = pools->addr + POOLS_BYTES;
		}
		pools->is_found = true;
		pools->bytes += pools->seen_bytes;
	}
	pools->addr = 0;
}

static void add_library(struct allocator_signs *signs, const struct library_name *library)
{
	if (library->allocator != ALLOCATOR_GLIBC && library->allocator != ALLOCATOR_MUSL)
		/*
		 * Mappings are added in ascending order, so the library at the
		 * highest address is chosen: a library in LD_PRELOAD is loaded
		 * first, which places it highest.
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
		/*
		 * the kernel lists parts of Go's heap with different flags as separate,
		 * adjacent mappings
		 */
		bool is_go = is_heap_of_go(m) ||
			     (signs->has_go && m->start_addr == signs->go_end_addr);

		signs->has_go = signs->has_go || is_go;
		signs->go_end_addr = is_go ? m->end_addr : signs->go_end_addr;
		rss_bytes = bytes_known(rss_bytes) ? rss_bytes : 0;
		signs->anonymous_bytes += rss_bytes;
		signs->go_bytes += is_go ? rss_bytes : 0;
	}
	add_to_pools(&signs->pools, m);
	if (strcmp(m->name, "[heap]") == 0 && bytes_known(m->counters.bytes[SMAPS_RSS]))
		signs->brk_bytes += m->counters.bytes[SMAPS_RSS];
	library = m->flags & MAPPING_EXEC && m->inode != 0 ? library_name_find(m->name)
							   : NULL;
	if (library)
		add_library(signs, library);
}

enum allocator allocator_signs_find(const struct allocator_signs *signs)
{
	if (signs->has_go && signs->go_bytes >= signs->anonymous_bytes - signs->go_bytes)
		return ALLOCATOR_GO;
	if (signs->pools.is_found && signs->pools.bytes >= signs->brk_bytes)
		return ALLOCATOR_PARTITION;
	return signs->other != ALLOCATOR_UNKNOWN ? signs->other : signs->libc;
}

bool allocator_is_walked(enum allocator allocator)
{
	return allocator == ALLOCATOR_GLIBC || allocator == ALLOCATOR_JEMALLOC ||
	       allocator == ALLOCATOR_MUSL || allocator == ALLOCATOR_TCMALLOC ||
	       allocator == ALLOCATOR_MIMALLOC || allocator == ALLOCATOR_GO ||
	       allocator == ALLOCATOR_PARTITION;
}

bool allocator_has_leaks(enum allocator allocator)
{
	return allocator_is_malloc(allocator) && allocator != ALLOCATOR_PARTITION;
}

bool allocator_is_malloc(enum allocator allocator)
{
	switch (allocator) {
	case ALLOCATOR_UNKNOWN:
	case ALLOCATOR_GO:
	case ALLOCATOR_PYTHON:
	case ALLOCATOR_HOTSPOT:
	case ALLOCATOR_ERLANG:
	case ALLOCATOR_PHP:
	case ALLOCATOR_V8:
	case ALLOCATOR_RUBY: return false;
	default: return true;
	}
}
