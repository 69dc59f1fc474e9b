/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/chromium_ranges.h"

#include "model/allocator_signs.h"

#define GIB (UINT64_C(1) << 30)

/*
 * V8's sandbox reserves 1 TiB, and guard regions around it. The first accessible memory
 * behind the first guard region is the pointer compression cage of 4 GiB, which contains
 * the JavaScript heaps.
 */
#define SANDBOX_BYTES (UINT64_C(1) << 40)
#define GUARD_BYTES_MIN (UINT64_C(32) * GIB)
#define CAGE_BYTES (UINT64_C(4) * GIB)

/*
 * Oilpan, the garbage collector of Blink, reserves a cage that is a power of two between
 * these limits, aligned to its size.
 */
#define OILPAN_BYTES_MIN (UINT64_C(2) * GIB)
#define OILPAN_BYTES_MAX (UINT64_C(32) * GIB)

/*
 * A run of adjacent private mappings without a file. Each pool of PartitionAlloc is a
 * separate run, even if other reserved ranges adjoin it.
 */
struct run {
	uint64_t start_addr, end_addr;
	uint64_t guard_bytes; /* size of the inaccessible memory just below end_addr */
	/*
	 * address of the first memory after a guard region that may be V8's pointer
	 * compression cage; 0: not found
	 */
	uint64_t cage_addr;
	bool is_used; /* true if part of the run is accessible */
};

static void add(struct chromium_ranges *ranges, uint64_t start_addr, uint64_t end_addr,
		enum known_use use)
{
	if (ranges->count < CHROMIUM_RANGE_MAX)
		ranges->items[ranges->count++] =
			(struct chromium_range){ start_addr, end_addr, use };
}

static void add_run(struct chromium_ranges *ranges, const struct run *run)
{
	uint64_t bytes = run->end_addr - run->start_addr, cage = run->cage_addr;

	if (cage && run->end_addr - cage >= SANDBOX_BYTES) {
		add(ranges, cage, cage + CAGE_BYTES, USE_V8_CAGE);
		add(ranges, cage + CAGE_BYTES, run->end_addr, USE_V8_SANDBOX);
	} else if (run->is_used && bytes >= OILPAN_BYTES_MIN &&
		   bytes <= OILPAN_BYTES_MAX && (bytes & (bytes - 1)) == 0 &&
		   run->start_addr % bytes == 0) {
		add(ranges, run->start_addr, run->end_addr, USE_OILPAN);
	}
}

static void extend(struct run *run, uint64_t start_addr, uint64_t end_addr,
		   bool is_accessible)
{
	if (is_accessible && run->cage_addr == 0 && run->guard_bytes >= GUARD_BYTES_MIN &&
	    start_addr % CAGE_BYTES == 0)
		run->cage_addr = start_addr;
	run->guard_bytes = is_accessible ? 0 : run->guard_bytes + (end_addr - start_addr);
	run->is_used |= is_accessible;
	run->end_addr = end_addr;
}

static bool is_private_anonymous(const struct mapping *m)
{
	return m->inode == 0 && m->name[0] == '\0' &&
	       !(m->flags & (MAPPING_SHARED | MAPPING_HUGETLB));
}

static bool is_edge(const struct partition_pools *pools, uint64_t addr)
{
	return addr == pools->found_addr || addr == pools->found_end_addr;
}

/*
 * Split a mapping at the edges of PartitionAlloc's pools: return the end of the part that
 * begins at addr. A mapping may extend across an edge, because the kernel merges adjacent
 * inaccessible mappings.
 */
static uint64_t find_end(const struct partition_pools *pools, uint64_t addr,
			 uint64_t end_addr)
{
	if (addr < pools->found_addr && pools->found_addr < end_addr)
		return pools->found_addr;
	if (addr < pools->found_end_addr && pools->found_end_addr < end_addr)
		return pools->found_end_addr;
	return end_addr;
}

void chromium_ranges_find(const struct mapping_list *mappings,
			  struct chromium_ranges *ret)
{
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;
	struct run run = { 0 };

	ret->count = 0;
	for (size_t i = 0; i < mappings->count; i++)
		allocator_signs_add(&signs, &mappings->items[i]);
	if (!signs.pools.is_found)
		return;
	add(ret, signs.pools.found_addr, signs.pools.found_end_addr, USE_PARTITION);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		uint64_t end_addr;

		if (!is_private_anonymous(m))
			continue;
		for (uint64_t addr = m->start_addr; addr < m->end_addr; addr = end_addr) {
			end_addr = find_end(&signs.pools, addr, m->end_addr);
			if (addr != run.end_addr || is_edge(&signs.pools, addr)) {
				add_run(ret, &run);
				run = (struct run){ .start_addr = addr };
			}
			extend(&run, addr, end_addr, m->flags & MAPPING_ACCESS);
		}
	}
	add_run(ret, &run);
}

enum known_use chromium_ranges_use(const struct chromium_ranges *ranges,
				   const struct mapping *m)
{
	if (!is_private_anonymous(m) || m->flags & MAPPING_EXEC)
		return USE_NONE;
	for (size_t i = 0; i < ranges->count; i++)
		if (m->start_addr >= ranges->items[i].start_addr &&
		    m->end_addr <= ranges->items[i].end_addr)
			return ranges->items[i].use;
	return USE_NONE;
}
