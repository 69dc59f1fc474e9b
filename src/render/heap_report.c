/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/output.h"

#define ARENAS_SHOWN 16

struct page {
	struct strbuf *out;
	const struct usage *usage;
	const struct heap *heap;
	bool exact_bytes;
};

static void add_bytes(const struct page *p, uint64_t bytes, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (p->exact_bytes && bytes_known(bytes))
		strbuf_addf(p->out, "%*" PRIu64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_bytes(bytes, buf));
}

static int bytes_width(const struct page *p)
{
	return p->exact_bytes ? 14 : 8;
}

static void add_head(const struct page *p)
{
	const struct heap *heap = p->heap;
	char pause[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%d ", p->usage->process.pid);
	text_add_printable(p->out, p->usage->process.comm, strlen(p->usage->process.comm),
			   false);
	strbuf_addf(p->out, ": %s malloc, %s. ", allocator_names[heap->allocator],
		    quality_names[heap->quality]);
	if (heap->reading_count > 0)
		strbuf_addf(p->out, "Not stopped, read %u times: ", heap->reading_count);
	else
		strbuf_addf(p->out, "Stopped for %s while ",
			    units_format_duration(heap->pause_ns, pause));
	add_bytes(p, heap->copied_bytes, 0);
	strbuf_add_text(p->out, " were copied.\n");
	if (heap->problem)
		strbuf_addf(p->out, "Not all is known: %s.\n", heap->problem);
	if (heap->skipped_bytes > 0) {
		add_bytes(p, heap->skipped_bytes, 0);
		strbuf_add_text(p->out, " of it could not be followed, and are in anon.\n");
	}
}

/* Lists are not read of a process that runs: what is in them counts as live. */
static bool lists_known(const struct heap *heap)
{
	return heap->reading_count == 0;
}

static void add_sum(const struct page *p, const char *label, const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "  %-34s %12" PRIu64 " ", label, sum->count);
	add_bytes(p, sum->bytes, bytes_width(p));
	strbuf_add_char(p->out, '\n');
}

static void add_sums(const struct page *p)
{
	struct heap_arena all = { 0 };

	for (size_t i = 0; i < p->heap->arena_count; i++) {
		const struct heap_arena *arena = &p->heap->arenas[i];

		if (arena->problem)
			continue;
		all.live.count += arena->live.count;
		all.live.bytes += arena->live.bytes;
		all.cached.count += arena->cached.count;
		all.cached.bytes += arena->cached.bytes;
		all.fast.count += arena->fast.count;
		all.fast.bytes += arena->fast.bytes;
		all.bin.count += arena->bin.count;
		all.bin.bytes += arena->bin.bytes;
	}
	strbuf_addf(p->out, "\n  %-34s %12s %*s\n", "CHUNKS", "COUNT", bytes_width(p),
		    "BYTES");
	add_sum(p, lists_known(p->heap) ? "live, in arenas" : "live, cached or fast, in arenas",
		&all.live);
	add_sum(p, "live, with a mapping of their own", &p->heap->mapped);
	if (lists_known(p->heap)) {
		add_sum(p, "free, in threads' caches", &all.cached);
		add_sum(p, "free, in fastbins", &all.fast);
	}
	add_sum(p, "free, in bins", &all.bin);
	if (lists_known(p->heap))
		strbuf_addf(p->out, "  %zu threads' caches\n", p->heap->cache_count);
}

static void add_resident(const struct page *p)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "pool_fragments: free, beside live",
		[OWNER_HEAP_META] = "heap_meta: malloc's own",
	};

	strbuf_addf(p->out, "\n  %-47s %*s%s\n", "RESIDENT", bytes_width(p), "BYTES",
		    p->heap->reading_count > 0 ? "  READINGS WITHIN" : "");
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		strbuf_addf(p->out, "  %-47s ", labels[o]);
		add_bytes(p, p->heap->owner_bytes[o], bytes_width(p));
		if (p->heap->reading_count > 0)
			add_bytes(p, p->heap->spread_bytes[o], 17);
		strbuf_add_char(p->out, '\n');
	}
	strbuf_addf(p->out, "  %-47s ", "malloc_trim(0) would give back");
	add_bytes(p, p->heap->trimmable_bytes, bytes_width(p));
	strbuf_add_char(p->out, '\n');
}

static void add_arena(const struct page *p, const struct heap_arena *arena)
{
	int width = bytes_width(p) + 1;

	strbuf_addf(p->out, "  %#-14" PRIx64 " %5" PRIu32, arena->addr,
		    arena->heap_count);
	add_bytes(p, arena->system_bytes, width);
	if (arena->problem) {
		strbuf_addf(p->out, "  unknown: %s\n", arena->problem);
		return;
	}
	add_bytes(p, arena->live.bytes, width);
	add_bytes(p, lists_known(p->heap) ? arena->cached.bytes : BYTES_UNKNOWN, width);
	add_bytes(p, lists_known(p->heap) ? arena->fast.bytes : BYTES_UNKNOWN, width);
	add_bytes(p, arena->bin.bytes, width);
	add_bytes(p, arena->top_bytes, width);
	add_bytes(p, arena->trimmable_bytes, width);
	strbuf_add_char(p->out, '\n');
}

static void add_arenas(const struct page *p)
{
	static const char *const titles[] = { "SYSTEM", "LIVE", "CACHED", "FAST",
					      "BINS",	"TOP",	"TRIM" };
	size_t shown = p->heap->arena_count < ARENAS_SHOWN ? p->heap->arena_count
							   : ARENAS_SHOWN;

	strbuf_addf(p->out, "\n  %-14s %5s", "ARENA", "HEAPS");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		strbuf_addf(p->out, " %*s", bytes_width(p), titles[i]);
	strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < shown; i++)
		add_arena(p, &p->heap->arenas[i]);
	if (shown < p->heap->arena_count)
		strbuf_addf(p->out, "  and %zu more\n", p->heap->arena_count - shown);
}

static void add_count(const struct page *p, const struct chunk_sum *sum)
{
	strbuf_addf(p->out, "%12" PRIu64 " ", sum->count);
	add_bytes(p, sum->bytes, bytes_width(p));
}

static void add_classes(const struct page *p)
{
	strbuf_addf(p->out, "\n  %14s%12s %*s%12s %*s", "SIZE TO", "LIVE", bytes_width(p),
		    "BYTES", "FREE", bytes_width(p), "BYTES");
	if (lists_known(p->heap))
		strbuf_addf(p->out, "%12s %*s", "CACHED", bytes_width(p), "BYTES");
	strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < HEAP_CLASS_COUNT; i++) {
		const struct heap_class *class = &p->heap->classes[i];

		if (class->live.count + class->free.count + class->cached.count == 0)
			continue;
		strbuf_add_text(p->out, "  ");
		add_bytes(p, class->upper_bytes, 14);
		add_count(p, &class->live);
		add_count(p, &class->free);
		if (lists_known(p->heap))
			add_count(p, &class->cached);
		strbuf_add_char(p->out, '\n');
	}
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

static void add_mallinfo(const struct page *p)
{
	strbuf_add_text(p->out, "\n  mallinfo2:");
	for (size_t i = 0; i < MALLINFO_FIELDS; i++)
		strbuf_addf(p->out, "%s%s=%" PRIu64, i == 5 ? "\n            " : " ",
			    mallinfo_fields[i].name, mallinfo_field(p->heap, i));
	strbuf_add_char(p->out, '\n');
}

void heap_report_add_text(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, bool exact_bytes)
{
	const struct page page = { out, u, heap, exact_bytes };

	add_head(&page);
	add_sums(&page);
	add_resident(&page);
	add_arenas(&page);
	add_classes(&page);
	if (heap->quality == QUALITY_EXACT)
		add_mallinfo(&page);
}

/* JSON */

static void add_json_number(struct strbuf *out, const char *key, uint64_t value)
{
	if (bytes_known(value))
		strbuf_addf(out, ",\"%s\":%" PRIu64, key, value);
	else
		strbuf_addf(out, ",\"%s\":null", key);
}

static void add_json_sum(struct strbuf *out, const char *key, const struct chunk_sum *sum,
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

static void add_json_arena(struct strbuf *out, const struct heap_arena *arena,
			   bool are_lists_known)
{
	bool is_known = !arena->problem;

	strbuf_addf(out, "{\"address\":\"0x%" PRIx64 "\"", arena->addr);
	add_json_number(out, "heaps", arena->heap_count);
	add_json_number(out, "attached_threads", arena->attached_threads);
	add_json_number(out, "system_bytes", arena->system_bytes);
	add_json_sum(out, "live", &arena->live, is_known);
	add_json_sum(out, "cached", &arena->cached, is_known && are_lists_known);
	add_json_sum(out, "fast", &arena->fast, is_known && are_lists_known);
	add_json_sum(out, "bin", &arena->bin, is_known);
	add_json_number(out, "top_bytes", is_known ? arena->top_bytes : BYTES_UNKNOWN);
	add_json_number(out, "trimmable_bytes", arena->trimmable_bytes);
	add_json_text(out, "problem", arena->problem);
	strbuf_add_char(out, '}');
}

static void add_json_class(struct strbuf *out, const struct heap_class *class,
			   bool are_lists_known)
{
	strbuf_addf(out, "{\"lower_bytes\":%" PRIu64 ",\"upper_bytes\":%" PRIu64,
		    class->lower_bytes, class->upper_bytes);
	add_json_sum(out, "live", &class->live, true);
	add_json_sum(out, "free", &class->free, true);
	add_json_sum(out, "cached", &class->cached, are_lists_known);
	strbuf_add_char(out, '}');
}

static void add_json_lists(struct strbuf *out, const struct heap *heap)
{
	bool is_first = true;

	strbuf_add_text(out, ",\"arenas\":[");
	for (size_t i = 0; i < heap->arena_count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		add_json_arena(out, &heap->arenas[i], lists_known(heap));
	}
	strbuf_add_text(out, "],\"classes\":[");
	for (size_t i = 0; i < HEAP_CLASS_COUNT; i++) {
		const struct heap_class *class = &heap->classes[i];

		if (class->live.count + class->free.count + class->cached.count == 0)
			continue;
		if (!is_first)
			strbuf_add_char(out, ',');
		is_first = false;
		add_json_class(out, class, lists_known(heap));
	}
	strbuf_add_char(out, ']');
}

void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap)
{
	bool is_exact = heap->quality == QUALITY_EXACT;

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
	add_json_number(out, "copied_bytes", heap->copied_bytes);
	add_json_number(out, "readings", heap->reading_count);
	add_json_number(out, "skipped_bytes", heap->skipped_bytes);
	add_json_number(out, "rss_bytes", u->total.bytes[SMAPS_RSS]);
	add_json_number(out, "unexplained_bytes", usage_unexplained_bytes(u));
	add_json_number(out, "trimmable_bytes", heap->trimmable_bytes);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		strbuf_addf(out, ",\"%s_resident_bytes\":%" PRIu64, owner_names[o],
			    heap->owner_bytes[o]);
	for (size_t o = 0; heap->reading_count > 0 && o <= OWNER_HEAP_LAST; o++)
		strbuf_addf(out, ",\"%s_spread_bytes\":%" PRIu64, owner_names[o],
			    heap->spread_bytes[o]);
	add_json_sum(out, "mapped", &heap->mapped, true);
	add_json_number(out, "caches", lists_known(heap) ? heap->cache_count : BYTES_UNKNOWN);
	strbuf_add_text(out, ",\"mallinfo2\":");
	for (size_t i = 0; is_exact && i < MALLINFO_FIELDS; i++)
		strbuf_addf(out, "%c\"%s\":%" PRIu64, i == 0 ? '{' : ',',
			    mallinfo_fields[i].name, mallinfo_field(heap, i));
	strbuf_add_text(out, is_exact ? "}" : "null");
	add_json_lists(out, heap);
	strbuf_add_text(out, "}\n");
}
