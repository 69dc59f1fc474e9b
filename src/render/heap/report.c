/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/heap/page.h"
#include "render/table/output.h"

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

/* Append how the figures were obtained. */
static void add_origin(const struct heap_page *p)
{
	const struct heap *heap = p->heap;
	char pause[UNITS_TEXT_SIZE];

	if (heap->is_said) {
		strbuf_addf(p->out, "Not walked: the allocator was asked.\n");
		return;
	}
	if (heap->reading_count > 0)
		strbuf_addf(p->out, "Not stopped, read %u times: ", heap->reading_count);
	else
		strbuf_addf(p->out, "Stopped for %s while ",
			    units_format_duration(heap->pause_ns, pause));
	heap_page_add_bytes(p, heap->copied_bytes, 0);
	strbuf_add_text(p->out, " were copied.\n");
}

static void add_head(const struct heap_page *p)
{
	const struct heap *heap = p->heap;

	strbuf_addf(p->out, "%d ", p->usage->process.pid);
	text_add_printable(p->out, p->usage->process.comm, strlen(p->usage->process.comm),
			   false);
	strbuf_addf(p->out, ": %s, %s. ", allocator_titles[heap->allocator],
		    quality_names[heap->quality]);
	add_origin(p);
	if (heap->problem)
		strbuf_addf(p->out, "Not all is known: %s.\n", heap->problem);
	if (heap->skipped_bytes > 0) {
		heap_page_add_bytes(p, heap->skipped_bytes, 0);
		strbuf_add_text(p->out,
				" of it could not be followed, and are in anon.\n");
	}
}

bool heap_lists_known(const struct heap *heap)
{
	return heap->reading_count == 0;
}

void heap_page_add_more(const struct heap_page *p, size_t more)
{
	if (more > 0)
		strbuf_addf(p->out, "  and %zu more (--top N)\n", more);
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

	heap_sum_arenas(p->heap, &all);
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "CHUNKS", "COUNT",
		    heap_page_bytes_width(p), "BYTES");
	heap_page_add_sum(p,
			  heap_lists_known(p->heap) ? "live, in arenas"
						    : "live, cached or fast, in arenas",
			  &all.live);
	heap_page_add_sum(p, "live, with a mapping of their own", &p->heap->mapped);
	if (heap_lists_known(p->heap)) {
		heap_page_add_sum(p, "free, in threads' caches", &all.cached);
		heap_page_add_sum(p, "free, in fastbins", &all.fast);
	}
	heap_page_add_sum(p, "free, in bins", &all.bin);
	if (heap_lists_known(p->heap))
		heap_page_add_caches(p);
}

static void add_resident(const struct heap_page *p)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "pool_fragments: free, beside live",
		[OWNER_HEAP_META] = "heap_meta: malloc's own",
	};

	strbuf_addf(p->out, "\n  %-47s %*s%s\n", "RESIDENT", heap_page_bytes_width(p),
		    "BYTES", p->heap->reading_count > 0 ? "  READINGS WITHIN" : "");
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		strbuf_addf(p->out, "  %-47s ", labels[o]);
		heap_page_add_bytes(p, p->heap->owner_bytes[o], heap_page_bytes_width(p));
		if (p->heap->reading_count > 0)
			heap_page_add_bytes(p, p->heap->spread_bytes[o], 17);
		strbuf_add_char(p->out, '\n');
	}
	strbuf_addf(p->out, "  %-47s ",
		    p->heap->allocator == ALLOCATOR_JEMALLOC
			    ? "trimmable: arena.<all>.purge would give back"
			    : "trimmable: malloc_trim(0) would give back");
	heap_page_add_bytes(p, p->heap->trimmable_bytes, heap_page_bytes_width(p));
	strbuf_add_char(p->out, '\n');
}

static void add_arena(const struct heap_page *p, const struct heap_arena *arena)
{
	int width = heap_page_bytes_width(p) + 1;

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

	strbuf_addf(p->out, "\n  %-14s %5s", "ARENA", "HEAPS");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		strbuf_addf(p->out, " %*s", heap_page_bytes_width(p), titles[i]);
	strbuf_add_char(p->out, '\n');
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

/* Return whether a size class is among the --top N classes with the most bytes. */
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
	if (heap_lists_known(p->heap))
		add_count(p, &class->cached);
	strbuf_add_char(p->out, '\n');
}

static void add_classes(const struct heap_page *p)
{
	size_t more = 0;

	strbuf_addf(p->out, "\n  %14s%12s %*s%12s %*s", "SIZE TO", "LIVE",
		    heap_page_bytes_width(p), "BYTES", "FREE", heap_page_bytes_width(p),
		    "BYTES");
	if (heap_lists_known(p->heap))
		strbuf_addf(p->out, "%12s %*s", "CACHED", heap_page_bytes_width(p),
			    "BYTES");
	strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < p->heap->class_count; i++) {
		if (is_class_shown(p, i))
			add_class(p, &p->heap->classes[i]);
		else
			more += class_bytes(&p->heap->classes[i]) > 0;
	}
	heap_page_add_more(p, more);
}

/* The fields of mallinfo2(3), in its order. */
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

	add_head(&page);
	if (heap->is_said) {
		heap_helper_add_text(&page);
		return;
	}
	if (is_jemalloc)
		heap_jemalloc_add_sums(&page);
	else
		add_sums(&page);
	add_resident(&page);
	if (detail)
		heap_detail_add_text(&page);
	if (is_jemalloc)
		heap_jemalloc_add_arenas(&page);
	else
		add_arenas(&page);
	add_classes(&page);
	if (!is_jemalloc && heap->quality == QUALITY_EXACT)
		add_mallinfo(&page);
	heap_helper_add_text(&page);
}

/* The report as JSON. */

void heap_json_add_number(struct strbuf *out, const char *key, uint64_t value)
{
	if (bytes_known(value))
		strbuf_addf(out, ",\"%s\":%" PRIu64, key, value);
	else
		strbuf_addf(out, ",\"%s\":null", key);
}

void heap_json_add_sum(struct strbuf *out, const char *key, const struct chunk_sum *sum,
		       bool is_known)
{
	if (is_known)
		strbuf_addf(out, ",\"%s_count\":%" PRIu64 ",\"%s_bytes\":%" PRIu64, key,
			    sum->count, key, sum->bytes);
	else
		strbuf_addf(out, ",\"%s_count\":null,\"%s_bytes\":null", key, key);
}

static void add_json_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ",\"%s\":", key);
	if (text)
		json_add_string(out, text, strlen(text));
	else
		strbuf_add_text(out, "null");
}

static void add_json_glibc_arena(struct strbuf *out, const struct heap_arena *arena,
				 bool are_lists_known)
{
	bool is_known = !arena->problem;

	strbuf_addf(out, "{\"address\":\"0x%" PRIx64 "\"", arena->addr);
	heap_json_add_number(out, "heaps", arena->heap_count);
	heap_json_add_number(out, "attached_threads", arena->attached_threads);
	heap_json_add_number(out, "system_bytes", arena->system_bytes);
	heap_json_add_sum(out, "live", &arena->live, is_known);
	heap_json_add_sum(out, "cached", &arena->cached, is_known && are_lists_known);
	heap_json_add_sum(out, "fast", &arena->fast, is_known && are_lists_known);
	heap_json_add_sum(out, "bin", &arena->bin, is_known);
	heap_json_add_number(out, "top_bytes",
			     is_known ? arena->top_bytes : BYTES_UNKNOWN);
	heap_json_add_number(out, "trimmable_bytes", arena->trimmable_bytes);
}

static void add_json_arena(struct strbuf *out, const struct heap *heap,
			   const struct heap_arena *arena)
{
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		heap_jemalloc_add_json_arena(out, heap, arena);
	else
		add_json_glibc_arena(out, arena, heap_lists_known(heap));
	add_json_text(out, "problem", arena->problem);
	strbuf_add_char(out, '}');
}

static void add_json_class(struct strbuf *out, const struct heap *heap,
			   const struct heap_class *class)
{
	strbuf_addf(out, "{\"lower_bytes\":%" PRIu64 ",\"upper_bytes\":%" PRIu64,
		    class->lower_bytes, class->upper_bytes);
	heap_json_add_sum(out, "live", &class->live, true);
	heap_json_add_sum(out, "free", &class->free, true);
	heap_json_add_sum(out, "cached", &class->cached, heap_lists_known(heap));
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		heap_json_add_sum(out, "own", &class->own, heap_lists_known(heap));
	strbuf_add_char(out, '}');
}

static void add_json_lists(struct strbuf *out, const struct heap *heap)
{
	bool is_first = true;

	if (heap->is_said) {
		strbuf_add_text(out, ",\"arenas\":null,\"classes\":null");
		return;
	}
	strbuf_add_text(out, ",\"arenas\":[");
	for (size_t i = 0; i < heap->arena_count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		add_json_arena(out, heap, &heap->arenas[i]);
	}
	strbuf_add_text(out, "],\"classes\":[");
	for (size_t i = 0; i < heap->class_count; i++) {
		const struct heap_class *class = &heap->classes[i];

		if (class->live.count + class->free.count + class->cached.count +
			    class->own.count ==
		    0)
			continue;
		if (!is_first)
			strbuf_add_char(out, ',');
		is_first = false;
		add_json_class(out, heap, class);
	}
	strbuf_add_char(out, ']');
}

void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options)
{
	const struct heap_page page = { out, u, heap, detail, options };
	bool is_jemalloc = heap->allocator == ALLOCATOR_JEMALLOC && !heap->is_said;
	bool has_mallinfo = !is_jemalloc && heap->quality == QUALITY_EXACT;
	bool are_lists_known = heap_lists_known(heap) && !heap->is_said;
	char key[48];

	strbuf_addf(
		out,
		"{\"memstate\":{\"version\":\"%s\",\"schema\":1},\"pid\":%d,\"comm\":",
		PACKAGE_VERSION, u->process.pid);
	json_add_string(out, u->process.comm, strlen(u->process.comm));
	add_json_text(out, "allocator", allocator_names[heap->allocator]);
	add_json_text(out, "heap_quality", quality_names[heap->quality]);
	add_json_text(out, "problem", heap->problem);
	strbuf_addf(out, ",\"pause_s\":%" PRIu64 ".%06" PRIu64, heap->pause_ns / NS_PER_S,
		    heap->pause_ns / NS_PER_US % 1000000);
	heap_json_add_number(out, "copied_bytes", heap->copied_bytes);
	heap_json_add_number(out, "readings", heap->reading_count);
	heap_json_add_number(out, "skipped_bytes", heap->skipped_bytes);
	heap_json_add_number(out, "rss_bytes", u->total.bytes[SMAPS_RSS]);
	heap_json_add_number(out, "unexplained_bytes", usage_unexplained_bytes(u));
	heap_json_add_number(out, "trimmable_bytes", heap->trimmable_bytes);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		snprintf(key, sizeof(key), "%s_resident_bytes", owner_names[o]);
		heap_json_add_number(out, key, heap->owner_bytes[o]);
	}
	for (size_t o = 0; heap->reading_count > 0 && o <= OWNER_HEAP_LAST; o++)
		strbuf_addf(out, ",\"%s_spread_bytes\":%" PRIu64, owner_names[o],
			    heap->spread_bytes[o]);
	heap_json_add_sum(out, "mapped", &heap->mapped, !is_jemalloc && !heap->is_said);
	heap_json_add_number(out, "caches",
			     are_lists_known ? heap->cache_count : BYTES_UNKNOWN);
	strbuf_add_text(out, ",\"mallinfo2\":");
	for (size_t i = 0; has_mallinfo && i < MALLINFO_FIELDS; i++)
		strbuf_addf(out, "%c\"%s\":%" PRIu64, i == 0 ? '{' : ',',
			    mallinfo_fields[i].name, mallinfo_field(heap, i));
	strbuf_add_text(out, has_mallinfo ? "}" : "null");
	if (is_jemalloc)
		heap_jemalloc_add_json_sums(out, heap);
	add_json_lists(out, heap);
	if (detail)
		heap_detail_add_json(&page);
	heap_helper_add_json(&page);
	strbuf_add_text(out, "}\n");
}
