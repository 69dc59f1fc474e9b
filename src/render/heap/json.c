/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "model/allocator_signs.h"
#include "render/heap/page.h"
#include "render/heap/pre_copy.h"
#include "render/process/use_rows.h"
#include "render/table/output.h"

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
	json_add_amount(j, "free_resident_bytes",
			is_known ? arena->free_resident_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "trimmable_bytes", arena->trimmable_bytes);
}

static void add_json_arena(struct json *j, const struct heap *heap,
			   const struct heap_arena *arena)
{
	json_begin_object(j, NULL);
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		heap_jemalloc_add_json_arena(j, heap, arena);
	else if (heap->allocator == ALLOCATOR_MUSL)
		heap_mallocng_add_json_arena(j, heap, arena);
	else if (heap->allocator == ALLOCATOR_MIMALLOC)
		heap_mimalloc_add_json_arena(j, arena);
	else if (heap->allocator == ALLOCATOR_TCMALLOC)
		heap_tcmalloc_add_json_arena(j, arena);
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
	if (heap->is_reported || !allocator_is_malloc(heap->allocator)) {
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
		json_add_amount(j, key, heap_total_bytes(heap, (enum owner)o));
	}
	for (size_t o = 0; heap->reading_count > 0 && o <= OWNER_HEAP_LAST; o++) {
		snprintf(key, sizeof(key), "%s_spread_bytes", owner_names[o]);
		json_add_number(j, key, heap->spread_bytes[o]);
	}
}

void heap_report_add_json(struct strbuf *out, const struct usage *u,
			  const struct heap *heap, const struct heap_detail *detail,
			  const struct heap_report_options *options)
{
	const struct heap_page page = { out, u, heap, detail, NULL, options };
	bool is_jemalloc = heap->allocator == ALLOCATOR_JEMALLOC && !heap->is_reported;
	bool are_lists_known = heap_caches_known(heap) && !heap->is_reported &&
			       allocator_is_malloc(heap->allocator);
	struct json j = json_begin_report(out, "heap");

	json_add_signed(&j, "pid", u->process.pid);
	json_add_string(&j, "comm", u->process.comm);
	json_add_string(&j, "allocator", allocator_names[heap->allocator]);
	json_add_string(&j, "heap_quality", quality_names[heap_total_quality(heap)]);
	json_add_string(&j, "problem", heap_total_problem(heap));
	json_add_seconds_us(&j, "pause_s", heap->pause_ns);
	json_add_amount(&j, "copied_bytes", heap->copied_bytes);
	pre_copy_add_json(&j, heap);
	json_add_amount(&j, "readings", heap->reading_count);
	json_add_amount(&j, "skipped_bytes", heap->skipped_bytes);
	json_add_amount(&j, "rss_bytes", u->total.bytes[SMAPS_RSS]);
	json_add_amount(&j, "unexplained_bytes", usage_unexplained_bytes(u));
	json_add_amount(&j, "trimmable_bytes", heap_total_trimmable(heap));
	add_json_owners(&j, heap);
	heap_json_add_sum(&j, "mapped", &heap->mapped,
			  heap_has_mapped(heap) && !heap->is_reported);
	json_add_amount(&j, "caches",
			are_lists_known ? heap->cache_count : BYTES_UNKNOWN);
	if (heap->allocator == ALLOCATOR_GLIBC && heap->quality == QUALITY_EXACT)
		heap_mallinfo_add_json(&j, heap);
	else
		json_add_null(&j, "mallinfo2");
	if (is_jemalloc)
		heap_jemalloc_add_json_sums(&j, heap);
	add_json_lists(&j, heap);
	heap_list_add_json(&j, &page);
	usage_uses_add_json(&j, u);
	if (heap_detail_at(detail, 0))
		heap_detail_add_json(&j, &page);
	heap_helper_add_json(&j, &page);
	json_end_report(&j);
}
