/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/answer.h"

#include "base/units.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The allocators that the helper can query, in the order in which memstate tries them.
 * glibc is last, because its functions exist even if another allocator is in use.
 * gperftools defines mallinfo2 itself.
 */
static const struct asked_allocator allocators[] = {
	{ ALLOCATOR_JEMALLOC, AGENT_JEMALLOC, AGENT_JEMALLOC_TEXT, false },
	{ ALLOCATOR_TCMALLOC, AGENT_GPERFTOOLS, AGENT_GPERFTOOLS_TEXT, false },
	{ ALLOCATOR_MIMALLOC, AGENT_MIMALLOC, AGENT_MIMALLOC_TEXT, false },
	{ ALLOCATOR_GLIBC, AGENT_MALLINFO2, AGENT_MALLOC_INFO, true },
};

const struct asked_allocator *answer_allocator(uint32_t commands)
{
	for (size_t i = 0; i < LENGTH(allocators); i++)
		if (commands & UINT32_C(1) << allocators[i].figures)
			return &allocators[i];
	return NULL;
}

/*
 * A figure that an allocator reports. Its index in the table is the index of its value in
 * the page that memstate shares with the helper. The tables in agent/helper/helper.c have
 * the same order.
 */
struct figure {
	const char *name;
	/*
	 * PAGES means that the value is a number of pages; the value with index
	 * JEMALLOC_PAGE is the page size
	 */
	enum {
		BYTES,
		COUNT,
		PAGES
	} unit;
};

static const struct figure glibc_figures[] = {
	{ "arena", BYTES },    { "ordblks", COUNT },  { "smblks", COUNT },
	{ "hblks", COUNT },    { "hblkhd", BYTES },   { "usmblks", BYTES },
	{ "fsmblks", BYTES },  { "uordblks", BYTES }, { "fordblks", BYTES },
	{ "keepcost", BYTES },
};

enum {
	GLIBC_ARENA,
	GLIBC_HBLKHD = 4,
	GLIBC_UORDBLKS = 7,
	GLIBC_FORDBLKS,
	GLIBC_KEEPCOST
};

static const struct figure jemalloc_figures[] = {
	{ "stats.allocated", BYTES },
	{ "stats.active", BYTES },
	{ "stats.metadata", BYTES },
	{ "stats.resident", BYTES },
	{ "stats.mapped", BYTES },
	{ "stats.retained", BYTES },
	{ "stats.arenas.all.dirty", PAGES },
	{ "stats.arenas.all.muzzy", PAGES },
	{ "stats.arenas.all.tcache_bytes", BYTES },
	{ "stats.arenas.all.small.allocated", BYTES },
	{ "stats.arenas.all.large.allocated", BYTES },
	{ "arenas.page", BYTES },
};

enum {
	JEMALLOC_ALLOCATED,
	JEMALLOC_ACTIVE,
	JEMALLOC_METADATA,
	JEMALLOC_RESIDENT,
	JEMALLOC_MAPPED,
	JEMALLOC_RETAINED,
	JEMALLOC_DIRTY,
	JEMALLOC_MUZZY,
	JEMALLOC_PAGE = 11
};

static const struct figure gperftools_figures[] = {
	{ "generic.current_allocated_bytes", BYTES },
	{ "generic.heap_size", BYTES },
	{ "tcmalloc.pageheap_free_bytes", BYTES },
	{ "tcmalloc.pageheap_unmapped_bytes", BYTES },
	{ "tcmalloc.central_cache_free_bytes", BYTES },
	{ "tcmalloc.transfer_cache_free_bytes", BYTES },
	{ "tcmalloc.thread_cache_free_bytes", BYTES },
};

enum {
	GPERFTOOLS_ALLOCATED,
	GPERFTOOLS_HEAP,
	GPERFTOOLS_FREE,
	GPERFTOOLS_UNMAPPED,
	GPERFTOOLS_CENTRAL,
	GPERFTOOLS_TRANSFER,
	GPERFTOOLS_THREAD
};

static const struct figure mimalloc_figures[] = {
	{ "elapsed_msecs", COUNT }, { "user_msecs", COUNT },  { "system_msecs", COUNT },
	{ "current_rss", BYTES },   { "peak_rss", BYTES },    { "current_commit", BYTES },
	{ "peak_commit", BYTES },   { "page_faults", COUNT },
};

#define MIMALLOC_COMMIT 5

/*
 * Return a value of the helper's answer, or BYTES_UNKNOWN if the allocator did not report
 * the value.
 */
static uint64_t value(const struct ctlpage_answer *answer, size_t index)
{
	return answer->known >> index & 1 ? answer->values[index] : BYTES_UNKNOWN;
}

static uint64_t pages(const struct ctlpage_answer *answer, size_t index)
{
	uint64_t count = value(answer, index), page_bytes = value(answer, JEMALLOC_PAGE);
	uint64_t bytes;

	if (!bytes_known(count) || !bytes_known(page_bytes) ||
	    __builtin_mul_overflow(count, page_bytes, &bytes))
		return BYTES_UNKNOWN;
	return bytes;
}

static void add_figures(const struct ctlpage_answer *answer, const struct figure *figures,
			size_t count, struct allocator_stats *ret)
{
	for (size_t i = 0; i < count; i++) {
		const struct figure *f = &figures[i];
		uint64_t v = f->unit == PAGES ? pages(answer, i) : value(answer, i);

		if (bytes_known(v))
			ret->values[ret->value_count++] =
				(struct allocator_value){ f->name, v, f->unit == COUNT };
	}
}

static void read_glibc(const struct ctlpage_answer *a, struct allocator_stats *ret)
{
	add_figures(a, glibc_figures, LENGTH(glibc_figures), ret);
	ret->mallinfo = (struct heap_mallinfo){
		.arena = value(a, GLIBC_ARENA),
		.ordblks = value(a, 1),
		.smblks = value(a, 2),
		.hblks = value(a, 3),
		.hblkhd = value(a, GLIBC_HBLKHD),
		.usmblks = value(a, 5),
		.fsmblks = value(a, 6),
		.uordblks = value(a, GLIBC_UORDBLKS),
		.fordblks = value(a, GLIBC_FORDBLKS),
		.keepcost = value(a, GLIBC_KEEPCOST),
	};
	ret->system_bytes = bytes_add(ret->mallinfo.arena, ret->mallinfo.hblkhd);
	ret->live_bytes = bytes_add(ret->mallinfo.uordblks, ret->mallinfo.hblkhd);
	ret->pool_bytes = ret->mallinfo.fordblks;
}

static void read_jemalloc(const struct ctlpage_answer *a, struct allocator_stats *ret)
{
	add_figures(a, jemalloc_figures, LENGTH(jemalloc_figures), ret);
	ret->system_bytes =
		bytes_add(value(a, JEMALLOC_MAPPED), value(a, JEMALLOC_RETAINED));
	ret->live_bytes = value(a, JEMALLOC_ALLOCATED);
	ret->pool_bytes =
		bytes_add(bytes_sub(value(a, JEMALLOC_ACTIVE), ret->live_bytes),
			  bytes_add(pages(a, JEMALLOC_DIRTY), pages(a, JEMALLOC_MUZZY)));
	ret->meta_bytes = value(a, JEMALLOC_METADATA);
	ret->resident_bytes = value(a, JEMALLOC_RESIDENT);
}

static void read_gperftools(const struct ctlpage_answer *a, struct allocator_stats *ret)
{
	add_figures(a, gperftools_figures, LENGTH(gperftools_figures), ret);
	ret->system_bytes = value(a, GPERFTOOLS_HEAP);
	ret->live_bytes = value(a, GPERFTOOLS_ALLOCATED);
	ret->pool_bytes = bytes_add(
		bytes_add(value(a, GPERFTOOLS_FREE), value(a, GPERFTOOLS_CENTRAL)),
		bytes_add(value(a, GPERFTOOLS_TRANSFER), value(a, GPERFTOOLS_THREAD)));
	ret->resident_bytes = bytes_sub(ret->system_bytes, value(a, GPERFTOOLS_UNMAPPED));
}

/*
 * Convert mimalloc's figures. current_rss is ignored, because it is the Rss of the whole
 * process instead of the allocator's.
 */
static void read_mimalloc(const struct ctlpage_answer *a, struct allocator_stats *ret)
{
	add_figures(a, mimalloc_figures, LENGTH(mimalloc_figures), ret);
	ret->system_bytes = value(a, MIMALLOC_COMMIT);
}

static void (*const readers[ALLOCATOR_COUNT_])(const struct ctlpage_answer *,
					       struct allocator_stats *) = {
	[ALLOCATOR_GLIBC] = read_glibc,
	[ALLOCATOR_JEMALLOC] = read_jemalloc,
	[ALLOCATOR_TCMALLOC] = read_gperftools,
	[ALLOCATOR_MIMALLOC] = read_mimalloc,
};

void answer_read(const struct asked_allocator *asked, const struct ctlpage_answer *answer,
		 struct allocator_stats *ret)
{
	*ret = (struct allocator_stats){
		.allocator = asked->allocator,
		.taken_ns = answer->taken_ns,
		.cost_ns = answer->cost_ns,
		.system_bytes = BYTES_UNKNOWN,
		.live_bytes = BYTES_UNKNOWN,
		.pool_bytes = BYTES_UNKNOWN,
		.meta_bytes = BYTES_UNKNOWN,
		.resident_bytes = BYTES_UNKNOWN,
	};
	readers[asked->allocator](answer, ret);
}
