/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "heap_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify_stats.h"

#define KIB UINT64_C(1024)

static const struct heap_arena arenas[] = {
	{
		.addr = 0x7f10001d1c60,
		.top_addr = 0x55d001300000,
		.top_bytes = 132 * KIB,
		.system_bytes = 4 * MIB,
		.attached_threads = 2,
		.heap_count = 1,
		.live = { 8123, 1100 * KIB },
		.cached = { 61, 7 * KIB },
		.fast = { 9, 432 },
		.bin = { 1742, 780 * KIB },
		.trimmable_bytes = 312 * KIB,
	},
	{
		.addr = 0x7f0000000030,
		.top_addr = 0x7f0003000000,
		.top_bytes = 64 * KIB,
		.system_bytes = 110 * MIB,
		.attached_threads = 1,
		.heap_count = 2,
		.live = { 501234, 61 * MIB },
		.cached = { 7, KIB },
		.bin = { 99120, 45 * MIB },
		.trimmable_bytes = 12 * MIB,
	},
	{
		.addr = 0x7f0020000030,
		.system_bytes = 132 * KIB,
		.heap_count = 1,
		.trimmable_bytes = BYTES_UNKNOWN,
		.problem = "its chunks do not end where its memory ends",
	},
};

static void add_class(struct heap *heap, uint64_t bytes, uint64_t live, uint64_t cached,
		      uint64_t free_count)
{
	struct heap_class *class = &heap->classes[heap_class_index(bytes)];

	class->live = (struct chunk_sum){ live, live * bytes };
	class->cached = (struct chunk_sum){ cached, cached * bytes };
	class->free = (struct chunk_sum){ free_count, free_count * bytes };
}

static void add_share(struct heap_findings *f, struct heap *heap, uint64_t start_addr,
		      const uint64_t *bytes)
{
	struct heap_share share = { .mapping = f->mappings.count };

	for (size_t i = 0; i < f->mappings.count; i++)
		if (f->mappings.items[i].start_addr == start_addr)
			share.mapping = i;
	/* the mapping belongs to another process */
	if (share.mapping == f->mappings.count)
		return;
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		share.owner_bytes[o] = bytes[o];
		heap->owner_bytes[o] += bytes[o];
	}
	heap->shares = xgrow(heap->shares, &heap->share_capacity, heap->share_count + 1,
			     sizeof(*heap->shares));
	heap->shares[heap->share_count++] = share;
}

static void make_known(struct heap_findings *f)
{
	static const uint64_t main_bytes[] = { 1100 * KIB, 400 * KIB, 380 * KIB,
					       20 * KIB };
	static const uint64_t other_bytes[] = { 61 * MIB, 12 * MIB, 33 * MIB, 96 * KIB };
	struct heap *heap = &f->heap;

	heap->allocator = ALLOCATOR_GLIBC;
	heap->quality = QUALITY_EXACT;
	heap->pause_ns = 4 * NS_PER_MS + 100 * NS_PER_US;
	heap->copied_bytes = 112 * MIB;
	heap->arena_count = 2;
	heap->arenas = xcalloc(3, sizeof(*heap->arenas));
	memcpy(heap->arenas, arenas, sizeof(arenas));
	heap->mapped = (struct chunk_sum){ 3, 2 * MIB };
	heap->cache_count = 4;
	heap->trimmable_bytes = 312 * KIB + 12 * MIB;
	add_class(heap, 32, 201455, 7, 1021);
	add_class(heap, 48, 100002, 5, 20417);
	add_class(heap, 112, 150000, 61, 75003);
	add_class(heap, 528, 40500, 0, 4000);
	add_class(heap, KIB, 12001, 0, 0);
	add_class(heap, 24 * KIB, 210, 0, 33);
	add_share(f, heap, 0x55d001000000, main_bytes);
	add_share(f, heap, 0x7f0000000000, other_bytes);
}

static const struct {
	const char *name;
	uint64_t size_bytes, count, pinned, pages, alone;
} types[] = {
	{ "shop::Order", 104, 150000, 12000, 3100, 2900 },
	{ NULL, 520, 40500, 9, 9, 0 },
	{ "std::map<std::string, shop::Price>", 40, 100002, 40, 22, 1 },
	{ "evil\033[31m", 24, 201455, 0, 0, 0 },
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

static void add_types(struct heap_detail *d)
{
	d->types = xcalloc(TYPE_COUNT, sizeof(*d->types));
	d->pins = xcalloc(TYPE_COUNT, sizeof(*d->pins));
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		uint64_t bytes = types[i].count * types[i].size_bytes;

		d->types[d->type_count++] = (struct heap_type){
			.name = types[i].name ? xstrdup(types[i].name) : NULL,
			.size_bytes = types[i].size_bytes,
			.live = { types[i].count, bytes },
			.resident_bytes = bytes,
			.pin = { types[i].pinned,
				 { types[i].pages, types[i].pages * 3000 },
				 types[i].alone },
		};
		if (types[i].pages > 0)
			d->pins[d->pin_count++] = i;
	}
}

static void add_strip(struct heap_detail *d, uint32_t arena, size_t cell_count)
{
	struct heap_strip *strip = &d->strips[d->strip_count++];

	*strip = (struct heap_strip){
		.arena = arena,
		.pages_per_cell = 4,
		.cells = xcalloc(cell_count, sizeof(struct page_sum)),
		.cell_count = cell_count,
	};
	for (size_t i = 0; i < cell_count; i++) {
		strip->cells[i] = (struct page_sum){ 4, i * 37 % 16385 };
		strip->sum.page_count += 4;
		strip->sum.free_bytes += strip->cells[i].free_bytes;
	}
}

static void make_detailed(struct heap_findings *f)
{
	struct heap_detail *d = &f->detail;

	make_known(f);
	f->has_detail = true;
	d->has_pages = d->has_blocks = true;
	add_types(d);
	for (unsigned int i = 0; i < FILL_COUNT_; i++)
		d->fill[i] = (struct page_sum){ 100 * i, 100 * i * 512 * (FILL_ALL - i) };
	d->fragmented = (struct page_sum){ 3122, 3122 * 3000 };
	d->strips = xcalloc(2, sizeof(*d->strips));
	add_strip(d, 0, 90);
	add_strip(d, 1, 1700);
}

static void make_leaky(struct heap_findings *f)
{
	struct heap_leaks *l = &f->leaks;

	make_detailed(f);
	*l = (struct heap_leaks){
		.is_done = true,
		.quality = QUALITY_EXACT,
		.live = { 491957, 60 * MIB },
		.reachable = { 480000, 58 * MIB },
		.direct = { 1957, MIB },
		.indirect = { 10000, MIB },
		.reachable_resident_bytes = 60 * MIB,
		.leaked_resident_bytes = 2 * MIB + 100 * KIB,
		.taken_ns = f->taken_ns,
		.kinds = xcalloc(3, sizeof(*l->kinds)),
		.kind_count = 3,
		.all_kind_count = 7,
	};
	l->kinds[0] = (struct leak_kind){
		xstrdup("shop::Order"), CONTENT_POINTERS, 104,
		{ 100, 10400 },		{ 10000, MIB },	  0x7f0000012340
	};
	l->kinds[1] = (struct leak_kind){ NULL,	    CONTENT_TEXT,  520, { 1800, 936000 },
					  { 0, 0 }, 0x55d001000010 };
	l->kinds[2] = (struct leak_kind){ NULL,		CONTENT_ZEROS, 24,
					  { 57, 1368 }, { 0, 0 },      0x7f0000456780 };
}

static void make_swapped(struct heap_findings *f)
{
	make_leaky(f);
	f->leaks.quality = QUALITY_BOUND;
	f->leaks.problem = "memory that is swapped out may hold pointers";
	f->leaks.swapped_bytes = 3 * MIB;
}

static void make_bound(struct heap_findings *f)
{
	make_known(f);
	f->heap.quality = QUALITY_BOUND;
	f->heap.problem = "an arena failed a check";
	f->heap.arena_count = 3;
}

static void make_running(struct heap_findings *f)
{
	make_known(f);
	f->heap.quality = QUALITY_ESTIMATE;
	f->heap.problem = "live includes cached blocks, because the process ran";
	f->heap.pause_ns = 0;
	f->heap.reading_count = 3;
	f->heap.trimmable_bytes = BYTES_UNKNOWN;
	f->heap.spread_bytes[OWNER_LIVE] = 52 * KIB;
	f->heap.spread_bytes[OWNER_POOL_FRAGMENTS] = 12 * KIB;
}

static void make_jemalloc(struct heap_findings *f)
{
	struct heap *heap = &f->heap;
	struct heap_arena *arena;

	make_known(f);
	heap->allocator = ALLOCATOR_JEMALLOC;
	for (arena = heap->arenas; arena < heap->arenas + heap->arena_count; arena++) {
		arena->number = (uint32_t)(arena - heap->arenas);
		arena->own = (struct chunk_sum){ 2, 28 * KIB };
		arena->stretches[HEAP_ACTIVE] =
			(struct stretch_sum){ 9, 106 * MIB, 105 * MIB };
		arena->stretches[HEAP_DIRTY] =
			(struct stretch_sum){ 3, 2 * MIB, 2 * MIB };
		arena->stretches[HEAP_RETAINED] = (struct stretch_sum){ 4, 31 * MIB, 0 };
	}
}

/*
 * Make the details of three heaps. Those of the second one contain no types, and the
 * third one has none.
 */
static void add_details(struct heap_findings *f)
{
	struct heap_detail *d = &f->detail, *python;

	f->has_detail = d->has_pages = true;
	d->fill[FILL_ALL] = (struct page_sum){ 700, 0 };
	d->strips = xcalloc(1, sizeof(*d->strips));
	add_strip(d, 0, 90);
	d->others = xcalloc(2, sizeof(*d->others));
	d->other_count = 2;
	python = &d->others[0];
	python->has_pages = python->has_blocks = true;
	add_types(python);
	python->fill[FILL_TO_25] = (struct page_sum){ 320, 320 * 3000 };
	python->fragmented = python->fill[FILL_TO_25];
	python->strips = xcalloc(1, sizeof(*python->strips));
	add_strip(python, 0, 40);
}

/* Make the findings of a process with two runtimes beside malloc. */
static void make_runtimes(struct heap_findings *f)
{
	static const enum allocator runtimes[] = { ALLOCATOR_PYTHON, ALLOCATOR_GO };
	static const uint64_t bytes[][OWNER_HEAP_LAST + 1] = {
		{ 3 * MIB, 0, 800 * KIB, 40 * KIB },
		{ MIB, 500 * KIB, 64 * KIB, 100 * KIB },
	};
	struct heap *heap = &f->heap;

	make_known(f);
	for (size_t i = 0; i < 2; i++) {
		struct heap *other = heap_add_other(heap);

		other->allocator = runtimes[i];
		other->quality = i == 0 ? QUALITY_EXACT : QUALITY_ESTIMATE;
		other->problem = i == 0 ? NULL : "the garbage collector is running";
		add_share(f, other, 0x7f0000000000, bytes[i]);
		other->trimmable_bytes = 0;
		strcpy(other->version, i == 0 ? "3.11" : "go1.22");
	}
	heap->others[0].class_count = 1;
	heap->others[0].classes[0] = (struct heap_class){
		.lower_bytes = 497,
		.upper_bytes = 512,
		.live = { 320, 160 * KIB },
		.free = { 1600, 800 * KIB },
	};
	add_details(f);
}

static void add_answer(struct heap_findings *f, enum allocator allocator)
{
	f->answer = (struct helper_answer){
		.was_requested = true,
		.was_injected = true,
		.stop_count = 4,
		.stopped_ns = 300 * NS_PER_US,
		.stats = { .allocator = allocator, .cost_ns = 37 * NS_PER_US },
	};
}

/* Make the findings of a walk and of a helper whose figures for live blocks differ. */
static void make_asked(struct heap_findings *f)
{
	struct allocator_stats *stats = &f->answer.stats;

	make_known(f);
	add_answer(f, ALLOCATOR_GLIBC);
	f->heap.mallinfo.uordblks = 61 * MIB;
	f->heap.mallinfo.ordblks = 1744;
	stats->mallinfo = f->heap.mallinfo;
	stats->mallinfo.uordblks += 4 * KIB;
	stats->values[0] = (struct allocator_value){ "ordblks", 1744, true };
	stats->values[1] =
		(struct allocator_value){ "uordblks", stats->mallinfo.uordblks, false };
	stats->value_count = 2;
}

/* Make the findings of a helper alone. */
static void make_said(struct heap_findings *f)
{
	struct allocator_stats *stats = &f->answer.stats;

	add_answer(f, ALLOCATOR_TCMALLOC);
	stats->values[0] = (struct allocator_value){ "generic.current_allocated_bytes",
						     40 * MIB, false };
	stats->values[1] = (struct allocator_value){ "tcmalloc.pageheap_free_bytes",
						     9 * MIB, false };
	stats->values[2] = (struct allocator_value){ "tcmalloc.central_cache_free_bytes",
						     MIB, false };
	stats->values[3] = (struct allocator_value){ "tcmalloc.transfer_cache_free_bytes",
						     0, false };
	stats->values[4] = (struct allocator_value){ "tcmalloc.thread_cache_free_bytes",
						     KIB, false };
	stats->value_count = 5;
	classify_stats_bound(stats, &f->mappings, &f->answer.bounds);
	f->heap.allocator = ALLOCATOR_TCMALLOC;
	f->heap.quality = QUALITY_BOUND;
	f->heap.problem =
		"figures are the allocator's own: it does not report what is resident";
	f->heap.is_reported = true;
	memcpy(f->heap.owner_bytes, f->answer.bounds.owner_bytes,
	       sizeof(f->heap.owner_bytes));
}

static void make_gated(struct heap_findings *f)
{
	make_known(f);
	f->answer = (struct helper_answer){
		.was_requested = true,
		.error = -EOPNOTSUPP,
		.problem = "it has a seccomp filter",
	};
}

static void make_unknown(struct heap_findings *f)
{
	f->heap.allocator = ALLOCATOR_TCMALLOC;
	f->heap.problem = "tcmalloc's structures are not read";
}

static void make_stopped(struct heap_findings *f)
{
	f->error = -EFBIG;
	f->heap.expected_ns = 2 * NS_PER_S;
}

static void make_refused(struct heap_findings *f)
{
	f->error = -EPERM;
}

static const struct {
	const char *name;
	void (*make)(struct heap_findings *f);
} fixtures[] = {
	{ "known", make_known },       { "detailed", make_detailed },
	{ "bound", make_bound },       { "leaky", make_leaky },
	{ "swapped", make_swapped },   { "running", make_running },
	{ "jemalloc", make_jemalloc }, { "asked", make_asked },
	{ "runtimes", make_runtimes }, { "said", make_said },
	{ "gated", make_gated },       { "unknown", make_unknown },
	{ "stopped", make_stopped },   { "refused", make_refused },
};

bool heap_fixture_make(const char *name, const struct data *d, uint64_t now_ns,
		       struct heap_findings *ret)
{
	heap_findings_init(ret);
	ret->taken_ns = now_ns;
	ret->cost_ns = 12 * NS_PER_MS;
	ret->usage = *data_detail(d);
	ret->usage.command = NULL;
	for (size_t i = 0; i < d->mappings.count; i++)
		mapping_list_add(&ret->mappings, &d->mappings.items[i]);
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++)
		if (strcmp(fixtures[i].name, name) == 0) {
			fixtures[i].make(ret);
			ret->usage.heap_quality = ret->heap.quality;
			return true;
		}
	return false;
}
