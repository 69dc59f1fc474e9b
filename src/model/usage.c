/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"

const char *const source_names[SOURCE_COUNT_] = {
	[SOURCE_NONE] = "none",
	[SOURCE_STAT] = "stat",
	[SOURCE_ROLLUP] = "smaps_rollup",
	[SOURCE_SMAPS] = "smaps",
};

const char *const quality_names[QUALITY_COUNT_] = {
	[QUALITY_UNKNOWN] = "unknown",
	[QUALITY_ESTIMATE] = "estimate",
	[QUALITY_BOUND] = "bound",
	[QUALITY_EXACT] = "exact",
};

const char *const allocator_names[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_GLIBC] = "glibc",
	[ALLOCATOR_MUSL] = "musl",
	[ALLOCATOR_JEMALLOC] = "jemalloc",
	[ALLOCATOR_TCMALLOC] = "tcmalloc",
	[ALLOCATOR_MIMALLOC] = "mimalloc",
	[ALLOCATOR_GO] = "go",
	[ALLOCATOR_PARTITION] = "PartitionAlloc",
	[ALLOCATOR_PYTHON] = "python",
	[ALLOCATOR_HOTSPOT] = "java",
	[ALLOCATOR_ERLANG] = "erlang",
	[ALLOCATOR_PHP] = "php",
	[ALLOCATOR_V8] = "v8",
	[ALLOCATOR_RUBY] = "ruby",
};

const char *const allocator_titles[ALLOCATOR_COUNT_] = {
	[ALLOCATOR_GLIBC] = "glibc malloc",
	[ALLOCATOR_MUSL] = "musl malloc",
	[ALLOCATOR_JEMALLOC] = "jemalloc",
	[ALLOCATOR_TCMALLOC] = "tcmalloc",
	[ALLOCATOR_MIMALLOC] = "mimalloc",
	[ALLOCATOR_GO] = "Go heap",
	[ALLOCATOR_PARTITION] = "PartitionAlloc (Chromium's malloc)",
	[ALLOCATOR_PYTHON] = "Python objects",
	[ALLOCATOR_HOTSPOT] = "Java heap",
	[ALLOCATOR_ERLANG] = "Erlang allocators",
	[ALLOCATOR_PHP] = "PHP heap",
	[ALLOCATOR_V8] = "V8 JavaScript heap",
	[ALLOCATOR_RUBY] = "Ruby objects",
};

void usage_init(struct usage *u)
{
	memset(u, 0, sizeof(*u));
	u->process.uid = UINT32_MAX;
	counters_set_unknown(&u->total);
	for (size_t s = 0; s < STATE_COUNT_; s++)
		u->state_bytes[s] = BYTES_UNKNOWN;
	matrix_set_unknown(&u->matrix);
	u->recorded_droppable_bytes = BYTES_UNKNOWN;
	u->unbacked_bytes = BYTES_UNKNOWN;
	u->reserved_bytes = BYTES_UNKNOWN;
	u->trimmable_bytes = BYTES_UNKNOWN;
	u->mapping_count = MAPPING_COUNT_UNKNOWN;
	u->reported = (struct reported)REPORTED_UNKNOWN;
}

void usage_release(struct usage *u)
{
	free(u->command);
	u->command = NULL;
}

void usage_set_no_memory(struct usage *u)
{
	counters_set_zero(&u->total);
	memset(u->state_bytes, 0, sizeof(u->state_bytes));
	matrix_set_no_heap(&u->matrix);
	u->unbacked_bytes = 0;
	u->reserved_bytes = 0;
	u->mapping_count = 0;
	u->source = SOURCE_SMAPS;
}

static uint64_t total(const struct usage *u, enum smaps_field field)
{
	return u->total.bytes[field];
}

uint64_t usage_uss_bytes(const struct usage *u)
{
	return bytes_add(total(u, SMAPS_PRIVATE_CLEAN), total(u, SMAPS_PRIVATE_DIRTY));
}

/*
 * The droppable memory of a mapping is the smaller of its LazyFree and its Private_Clean.
 * state_bytes[STATE_PRIVATE_CLEAN] excludes this memory, whereas the total of
 * Private_Clean includes it, so the difference is the droppable memory of all mappings.
 */
uint64_t usage_droppable_bytes(const struct usage *u)
{
	return bytes_sub(total(u, SMAPS_PRIVATE_CLEAN),
			 u->state_bytes[STATE_PRIVATE_CLEAN]);
}

uint64_t usage_need_bytes(const struct usage *u)
{
	return bytes_sub(total(u, SMAPS_ANONYMOUS), usage_droppable_bytes(u));
}

uint64_t usage_hugetlb_bytes(const struct usage *u)
{
	return bytes_add(total(u, SMAPS_PRIVATE_HUGETLB), total(u, SMAPS_SHARED_HUGETLB));
}

uint64_t usage_thp_bytes(const struct usage *u)
{
	return bytes_add(total(u, SMAPS_ANON_HUGE),
			 bytes_add(total(u, SMAPS_SHMEM_PMD), total(u, SMAPS_FILE_PMD)));
}

bool usage_heaps_are_listed(const struct usage *u)
{
	return u->heap_count > 1 ||
	       (u->heap_count == 1 && !allocator_is_malloc(u->heaps[0].allocator));
}

uint64_t usage_heap_bytes(const struct usage_heap *heap)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum = bytes_add(sum, heap->owner_bytes[o]);
	return sum;
}

uint64_t usage_heaps_sum(const struct usage *u, enum allocator allocator, bool is_live)
{
	uint64_t sum = BYTES_UNKNOWN;

	for (size_t i = 0; i < u->heap_count; i++) {
		const struct usage_heap *heap = &u->heaps[i];
		uint64_t bytes = is_live ? heap->owner_bytes[OWNER_LIVE]
					 : usage_heap_bytes(heap);

		if (heap->allocator != allocator &&
		    (allocator != ALLOCATOR_UNKNOWN ||
		     !allocator_is_malloc(heap->allocator)))
			continue;
		sum = bytes_known(sum) ? bytes_add(sum, bytes) : bytes;
	}
	return sum;
}

uint64_t usage_unknown_anon_bytes(const struct usage *u)
{
	uint64_t known = 0;

	for (size_t i = 0; i < u->uses.count; i++)
		if (u->uses.items[i].owner == OWNER_ANON &&
		    u->uses.items[i].use != USE_POSTGRES_BACKEND)
			known = bytes_add(known, u->uses.items[i].rss_bytes);
	return bytes_sub(matrix_owner_bytes(&u->matrix, OWNER_ANON), known);
}

uint64_t usage_unexplained_bytes(const struct usage *u)
{
	uint64_t explained = matrix_total_bytes(&u->matrix);

	if (!bytes_known(explained)) {
		explained = 0;
		for (size_t s = 0; s < STATE_COUNT_; s++)
			explained = bytes_add(explained, u->state_bytes[s]);
	}
	return bytes_sub(total(u, SMAPS_RSS), explained);
}

void snapshot_init(struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
}

void snapshot_release(struct snapshot *s)
{
	snapshot_clear(s);
	free(s->usages);
	snapshot_init(s);
}

void snapshot_clear(struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++)
		usage_release(&s->usages[i]);
	s->count = 0;
	s->unreadable_count = 0;
	s->gone_count = 0;
}

/*
 * malloc gives an array of this size its own mapping, which can grow in place and takes
 * no memory until its pages are used. Growing a smaller array would leave holes in the
 * heap.
 */
#define FIRST_COUNT 256

struct usage *snapshot_add(struct snapshot *s)
{
	size_t need = s->count < FIRST_COUNT ? FIRST_COUNT : s->count + 1;
	struct usage *u;

	s->usages = xgrow(s->usages, &s->capacity, need, sizeof(*s->usages));
	u = &s->usages[s->count++];
	usage_init(u);
	return u;
}

struct usage *snapshot_find(const struct snapshot *s, int pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->usages[i].process.pid == pid)
			return &s->usages[i];
	return NULL;
}
