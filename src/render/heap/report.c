/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/heap/page.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"
#include "render/table/style.h"

#define ARENAS_SHOWN 16

void heap_page_add_bytes(const struct heap_page *p, uint64_t bytes, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (p->options->exact_bytes && bytes_known(bytes))
		strbuf_addf(p->out, "%*" PRIu64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_bytes(bytes, buf));
}

int heap_page_bytes_width(const struct heap_page *p)
{
	return p->options->exact_bytes ? 14 : 8;
}

/* Append how the figures of the heap were obtained. */
static void add_origin(const struct heap_page *p)
{
	const struct heap *heap = p->heap;
	char pause[UNITS_TEXT_SIZE];

	if (heap->is_reported) {
		strbuf_addf(p->out, "; heap not walked, allocator queried.\n");
		return;
	}
	if (heap->reading_count > 0)
		strbuf_addf(p->out, "; not paused, read %u times to copy ",
			    heap->reading_count);
	else
		strbuf_addf(p->out, "; paused for %s to copy ",
			    units_format_duration(heap->pause_ns, pause));
	heap_page_add_bytes(p, heap->copied_bytes, 0);
	strbuf_add_text(p->out, ".\n");
}

static void add_head(const struct heap_page *p)
{
	const struct table_options options = { .max_width = p->options->width };
	const struct heap *heap = p->heap;

	strbuf_addf(p->out, "%d ", p->usage->process.pid);
	text_add_printable(p->out, p->usage->process.comm, strlen(p->usage->process.comm),
			   false);
	strbuf_addf(p->out, ": %s, %s", allocator_titles[heap->allocator],
		    quality_names[heap->quality]);
	add_origin(p);
	if (p->options->conclusion)
		conclusion_add_opening(p->out, p->options->conclusion, &options);
	if (heap->problem)
		strbuf_addf(p->out, "Incomplete: %s.\n", heap->problem);
	if (heap->skipped_bytes > 0) {
		heap_page_add_bytes(p, heap->skipped_bytes, 0);
		strbuf_add_text(
			p->out,
			" of it could not be walked; anon includes this memory.\n");
	}
}

bool heap_lists_known(const struct heap *heap)
{
	return heap->reading_count == 0;
}

bool heap_caches_known(const struct heap *heap)
{
	return heap_lists_known(heap) && heap->allocator != ALLOCATOR_MUSL;
}

void heap_page_add_more(const struct heap_page *p, size_t more)
{
	if (more > 0)
		strbuf_addf(p->out, "  and %zu more (--top N)\n", more);
}

void heap_page_mark_heading(const struct heap_page *p, size_t begin)
{
	style_mark_line(p->out, begin, STYLE_HEADING, p->options->colour);
}

void heap_page_add_sum(const struct heap_page *p, const char *label,
		       const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "  %-34s %12" PRIu64 " ", label, sum->count);
	heap_page_add_bytes(p, sum->bytes, heap_page_bytes_width(p));
	strbuf_add_char(p->out, '\n');
}

void heap_page_add_caches(const struct heap_page *p)
{
	strbuf_addf(p->out, "  %zu %s\n", p->heap->cache_count,
		    p->heap->cache_count == 1 ? "thread's cache" : "threads' caches");
}

static void add_sums(const struct heap_page *p)
{
	struct heap_arena all;
	size_t begin = p->out->length;

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "CHUNKS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_mark_heading(p, begin);
	heap_page_add_sum(p,
			  heap_lists_known(p->heap) ? "live, in arenas"
						    : "live, cached or fast, in arenas",
			  &all.live);
	heap_page_add_sum(p, "live, in their own mappings", &p->heap->mapped);
	if (heap_lists_known(p->heap)) {
		heap_page_add_sum(p, "free, in threads' caches", &all.cached);
		heap_page_add_sum(p, "free, in fastbins", &all.fast);
	}
	heap_page_add_sum(p, "free, in bins", &all.bin);
	if (heap_lists_known(p->heap))
		heap_page_add_caches(p);
}

static void mark_reclaimable(const struct heap_page *p, size_t begin)
{
	style_mark_line(p->out, begin, STYLE_RECLAIMABLE, p->options->colour);
}

static void add_resident(const struct heap_page *p)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] =
			"pool_fragments: free, on pages with live blocks",
		[OWNER_HEAP_META] = "heap_meta: malloc's own",
	};
	char label[64];
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-47s %*s%s\n", "RESIDENT", heap_page_bytes_width(p),
		    "BYTES", p->heap->reading_count > 0 ? "  READINGS WITHIN" : "");
	heap_page_mark_heading(p, begin);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		begin = p->out->length;
		strbuf_addf(p->out, "  %-47s ", labels[o]);
		heap_page_add_bytes(p, p->heap->owner_bytes[o], heap_page_bytes_width(p));
		if (p->heap->reading_count > 0)
			heap_page_add_bytes(p, p->heap->spread_bytes[o], 17);
		strbuf_add_char(p->out, '\n');
		if (o == OWNER_POOL_PAGES)
			mark_reclaimable(p, begin);
	}
	if (!heap_trim_call(p->heap->allocator))
		return;
	begin = p->out->length;
	snprintf(label, sizeof(label), "trimmable: %s would return",
		 heap_trim_call(p->heap->allocator));
	strbuf_addf(p->out, "  %-47s ", label);
	heap_page_add_bytes(p, p->heap->trimmable_bytes, heap_page_bytes_width(p));
	strbuf_add_char(p->out, '\n');
	mark_reclaimable(p, begin);
}

/* Return the width of an amount in the table of arenas, which is the widest table. */
static int find_arena_width(const struct heap_page *p)
{
	int width = heap_page_bytes_width(p), line_width = 22 + 7 * (width + 1);
	bool is_narrow = p->options->width > 0 && line_width > p->options->width;

	return is_narrow && !p->options->exact_bytes ? width - 1 : width;
}

static void add_arena(const struct heap_page *p, const struct heap_arena *arena)
{
	int width = find_arena_width(p) + 1;

	strbuf_addf(p->out, "  %#-14" PRIx64 " %5" PRIu32, arena->addr,
		    arena->heap_count);
	heap_page_add_bytes(p, arena->system_bytes, width);
	if (arena->problem) {
		strbuf_addf(p->out, "  unknown: %s\n", arena->problem);
		return;
	}
	heap_page_add_bytes(p, arena->live.bytes, width);
	heap_page_add_bytes(
		p, heap_lists_known(p->heap) ? arena->cached.bytes : BYTES_UNKNOWN,
		width);
	heap_page_add_bytes(
		p, heap_lists_known(p->heap) ? arena->fast.bytes : BYTES_UNKNOWN, width);
	heap_page_add_bytes(p, arena->bin.bytes, width);
	heap_page_add_bytes(p, arena->top_bytes, width);
	heap_page_add_bytes(p, arena->trimmable_bytes, width);
	strbuf_add_char(p->out, '\n');
}

static void add_arenas(const struct heap_page *p)
{
	static const char *const titles[] = { "SYSTEM", "LIVE", "CACHED", "FAST",
					      "BINS",	"TOP",	"TRIM" };
	size_t shown = p->heap->arena_count < ARENAS_SHOWN ? p->heap->arena_count
							   : ARENAS_SHOWN;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-14s %5s", "ARENA", "HEAPS");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		strbuf_addf(p->out, " %*s", find_arena_width(p), titles[i]);
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < shown; i++)
		add_arena(p, &p->heap->arenas[i]);
	if (shown < p->heap->arena_count)
		strbuf_addf(p->out, "  and %zu more\n", p->heap->arena_count - shown);
}

static void add_count(const struct heap_page *p, const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "%12" PRIu64 " ", sum->count);
	heap_page_add_bytes(p, sum->bytes, heap_page_bytes_width(p));
}

static uint64_t class_bytes(const struct heap_class *class)
{
	return class->live.bytes + class->free.bytes + class->cached.bytes;
}

/* Return true if a size class is among the --top N classes with the most bytes. */
static bool is_class_shown(const struct heap_page *p, size_t index)
{
	uint64_t bytes = class_bytes(&p->heap->classes[index]);
	size_t larger = 0;

	for (size_t i = 0; i < p->heap->class_count; i++) {
		uint64_t other = class_bytes(&p->heap->classes[i]);

		larger += other > bytes || (other == bytes && i < index);
	}
	return bytes > 0 && (p->options->top == 0 || larger < p->options->top);
}

static void add_class(const struct heap_page *p, const struct heap_class *class)
{
	strbuf_add_text(p->out, "  ");
	heap_page_add_bytes(p, class->upper_bytes, 14);
	add_count(p, &class->live);
	add_count(p, &class->free);
	if (heap_caches_known(p->heap))
		add_count(p, &class->cached);
	strbuf_add_char(p->out, '\n');
}

static void add_classes(const struct heap_page *p)
{
	size_t more = 0, begin = p->out->length;

	strbuf_addf(p->out, "\n  %14s%12s %*s%12s %*s", "SIZE TO", "LIVE",
		    heap_page_bytes_width(p), "BYTES", "FREE", heap_page_bytes_width(p),
		    "BYTES");
	if (heap_caches_known(p->heap))
		strbuf_addf(p->out, "%12s %*s", "CACHED", heap_page_bytes_width(p),
			    "BYTES");
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < p->heap->class_count; i++) {
		if (is_class_shown(p, i))
			add_class(p, &p->heap->classes[i]);
		else
			more += class_bytes(&p->heap->classes[i]) > 0;
	}
	heap_page_add_more(p, more);
}

/* The fields of struct mallinfo2, in the order of mallinfo2(3). */
static const struct {
	const char *name;
	size_t offset;
} mallinfo_fields[] = {
#define FIELD(name)                                         \
	{                                                   \
#		name, offsetof(struct heap_mallinfo, name) \
	}
	FIELD(arena),	FIELD(ordblks), FIELD(smblks),	 FIELD(hblks),	  FIELD(hblkhd),
	FIELD(usmblks), FIELD(fsmblks), FIELD(uordblks), FIELD(fordblks), FIELD(keepcost),
#undef FIELD
};

#define MALLINFO_FIELDS (sizeof(mallinfo_fields) / sizeof(mallinfo_fields[0]))

static uint64_t mallinfo_field(const struct heap *heap, size_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)&heap->mallinfo + mallinfo_fields[index].offset,
	       sizeof(value));
	return value;
}

static void add_mallinfo(const struct heap_page *p)
{
	strbuf_add_text(p->out, "\n  mallinfo2:");
	for (size_t i = 0; i < MALLINFO_FIELDS; i++)
		strbuf_addf(p->out, "%s%s=%" PRIu64, i == 5 ? "\n            " : " ",
			    mallinfo_fields[i].name, mallinfo_field(p->heap, i));
	strbuf_add_char(p->out, '\n');
}

void heap_report_add_text(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options)
{
	const struct heap_page page = { out, u, heap, detail, options };
	const bool is_jemalloc = heap->allocator == ALLOCATOR_JEMALLOC;
	const bool is_musl = heap->allocator == ALLOCATOR_MUSL;

	add_head(&page);
	if (heap->is_reported) {
		heap_helper_add_text(&page);
		return;
	}
	if (is_jemalloc)
		heap_jemalloc_add_sums(&page);
	else if (is_musl)
		heap_mallocng_add_sums(&page);
	else
		add_sums(&page);
	add_resident(&page);
	if (detail)
		heap_detail_add_text(&page);
	if (is_jemalloc)
		heap_jemalloc_add_arenas(&page);
	else if (!is_musl)
		add_arenas(&page);
	add_classes(&page);
	if (heap->allocator == ALLOCATOR_GLIBC && heap->quality == QUALITY_EXACT)
		add_mallinfo(&page);
	heap_helper_add_text(&page);
}

/* The functions from here on write the report as JSON. */

void heap_json_add_sum(struct json *j, const char *name, const struct chunk_sum *sum,
		       bool is_known)
{
	char key[48];

	snprintf(key, sizeof(key), "%s_count", name);
	json_add_amount(j, key, is_known ? sum->count : BYTES_UNKNOWN);
	snprintf(key, sizeof(key), "%s_bytes", name);
	json_add_amount(j, key, is_known ? sum->bytes : BYTES_UNKNOWN);
}

static void add_json_glibc_arena(struct json *j, const struct heap_arena *arena,
				 bool are_lists_known)
{
	bool is_known = !arena->problem;

	json_add_address(j, "address", arena->addr);
	json_add_amount(j, "heaps", arena->heap_count);
	json_add_amount(j, "attached_threads", arena->attached_threads);
	json_add_amount(j, "system_bytes", arena->system_bytes);
	heap_json_add_sum(j, "live", &arena->live, is_known);
	heap_json_add_sum(j, "cached", &arena->cached, is_known && are_lists_known);
	heap_json_add_sum(j, "fast", &arena->fast, is_known && are_lists_known);
	heap_json_add_sum(j, "bin", &arena->bin, is_known);
	json_add_amount(j, "top_bytes", is_known ? arena->top_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "trimmable_bytes", arena->trimmable_bytes);
}

static void add_json_arena(struct json *j, const struct heap *heap,
			   const struct heap_arena *arena)
{
	json_begin_object(j, NULL);
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		heap_jemalloc_add_json_arena(j, heap, arena);
	else if (heap->allocator == ALLOCATOR_MUSL)
		heap_mallocng_add_json_arena(j, arena);
	else
		add_json_glibc_arena(j, arena, heap_lists_known(heap));
	json_add_string(j, "problem", arena->problem);
	json_end_object(j);
}

static void add_json_class(struct json *j, const struct heap *heap,
			   const struct heap_class *class)
{
	json_begin_object(j, NULL);
	json_add_number(j, "lower_bytes", class->lower_bytes);
	json_add_number(j, "upper_bytes", class->upper_bytes);
	heap_json_add_sum(j, "live", &class->live, true);
	heap_json_add_sum(j, "free", &class->free, true);
	heap_json_add_sum(j, "cached", &class->cached, heap_caches_known(heap));
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		heap_json_add_sum(j, "own", &class->own, heap_lists_known(heap));
	json_end_object(j);
}

static void add_json_lists(struct json *j, const struct heap *heap)
{
	if (heap->is_reported) {
		json_add_null(j, "arenas");
		json_add_null(j, "classes");
		return;
	}
	json_begin_array(j, "arenas");
	for (size_t i = 0; i < heap->arena_count; i++)
		add_json_arena(j, heap, &heap->arenas[i]);
	json_end_array(j);
	json_begin_array(j, "classes");
	for (size_t i = 0; i < heap->class_count; i++) {
		const struct heap_class *class = &heap->classes[i];

		if (class->live.count + class->free.count + class->cached.count +
			    class->own.count >
		    0)
			add_json_class(j, heap, class);
	}
	json_end_array(j);
}

static void add_json_owners(struct json *j, const struct heap *heap)
{
	char key[48];

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		snprintf(key, sizeof(key), "%s_resident_bytes", owner_names[o]);
		json_add_amount(j, key, heap->owner_bytes[o]);
	}
	for (size_t o = 0; heap->reading_count > 0 && o <= OWNER_HEAP_LAST; o++) {
		snprintf(key, sizeof(key), "%s_spread_bytes", owner_names[o]);
		json_add_number(j, key, heap->spread_bytes[o]);
	}
}

static void add_json_mallinfo(struct json *j, const struct heap *heap)
{
	json_begin_object(j, "mallinfo2");
	for (size_t i = 0; i < MALLINFO_FIELDS; i++)
		json_add_number(j, mallinfo_fields[i].name, mallinfo_field(heap, i));
	json_end_object(j);
}

void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options)
{
	const struct heap_page page = { out, u, heap, detail, options };
	bool is_jemalloc = heap->allocator == ALLOCATOR_JEMALLOC && !heap->is_reported;
	bool are_lists_known = heap_caches_known(heap) && !heap->is_reported;
	struct json j = json_begin_report(out, "heap");

	json_add_signed(&j, "pid", u->process.pid);
	json_add_string(&j, "comm", u->process.comm);
	json_add_string(&j, "allocator", allocator_names[heap->allocator]);
	json_add_string(&j, "heap_quality", quality_names[heap->quality]);
	json_add_string(&j, "problem", heap->problem);
	json_add_seconds_us(&j, "pause_s", heap->pause_ns);
	json_add_amount(&j, "copied_bytes", heap->copied_bytes);
	json_add_amount(&j, "readings", heap->reading_count);
	json_add_amount(&j, "skipped_bytes", heap->skipped_bytes);
	json_add_amount(&j, "rss_bytes", u->total.bytes[SMAPS_RSS]);
	json_add_amount(&j, "unexplained_bytes", usage_unexplained_bytes(u));
	json_add_amount(&j, "trimmable_bytes", heap->trimmable_bytes);
	add_json_owners(&j, heap);
	heap_json_add_sum(&j, "mapped", &heap->mapped,
			  !is_jemalloc && !heap->is_reported);
	json_add_amount(&j, "caches",
			are_lists_known ? heap->cache_count : BYTES_UNKNOWN);
	if (heap->allocator == ALLOCATOR_GLIBC && heap->quality == QUALITY_EXACT)
		add_json_mallinfo(&j, heap);
	else
		json_add_null(&j, "mallinfo2");
	if (is_jemalloc)
		heap_jemalloc_add_json_sums(&j, heap);
	add_json_lists(&j, heap);
	if (detail)
		heap_detail_add_json(&j, &page);
	heap_helper_add_json(&j, &page);
	json_end_report(&j);
}
