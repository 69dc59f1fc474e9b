/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report sections that list all heaps of a process, and the section about the heap of
 * a language runtime.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/allocator_signs.h"
#include "render/heap/page.h"
#include "render/table/output.h"

void heap_list_add_titles(struct strbuf *out, const struct heap *heap)
{
	size_t count = heap_count(heap);

	for (size_t i = 0; i < count; i++) {
		const char *separator = i == 0 ? "" : i + 1 == count ? " and " : ", ";

		strbuf_addf(out, "%s%s", separator,
			    allocator_titles[heap_at(heap, i)->allocator]);
	}
}

static void add_amount(const struct heap_page *p, uint64_t bytes)
{
	heap_page_add_bytes(p, bytes, heap_page_bytes_width(p) + 1);
}

static void add_headings(const struct heap_page *p, const char *const headings[],
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_addf(p->out, " %*s", heap_page_bytes_width(p), headings[i]);
}

/* Append one line of the table of heaps. */
static void add_heap(const struct heap_page *p, const struct heap *heap)
{
	bool is_known = heap->quality != QUALITY_UNKNOWN;

	strbuf_addf(p->out, "  %-18s", allocator_titles[heap->allocator]);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		add_amount(p, is_known ? heap->owner_bytes[o] : BYTES_UNKNOWN);
	add_amount(p, heap->trimmable_bytes);
	strbuf_addf(p->out, "  %s\n", quality_names[heap->quality]);
	if (heap->problem)
		strbuf_addf(p->out, "    %s: %s\n", quality_names[heap->quality],
			    heap->problem);
}

void heap_list_add_text(const struct heap_page *p)
{
	static const char *const headings[] = { "LIVE", "PAGES", "FRAGM", "OWN", "TRIM" };
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-18s", "RESIDENT IN");
	add_headings(p, headings, sizeof(headings) / sizeof(headings[0]));
	strbuf_add_text(p->out, "  QUALITY\n");
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < heap_count(p->heap); i++)
		add_heap(p, heap_at(p->heap, i));
	if (p->heap->other_count == 0)
		return;
	strbuf_addf(p->out, "  %-18s", "all heaps");
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		add_amount(p, heap_total_bytes(p->heap, (enum owner)o));
	add_amount(p, heap_total_trimmable(p->heap));
	strbuf_addf(p->out, "  %s\n", quality_names[heap_total_quality(p->heap)]);
}

void heap_list_add_title(const struct heap_page *p)
{
	const struct heap *heap = p->heap;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n%s", allocator_titles[heap->allocator]);
	if (heap->version[0] != '\0') {
		strbuf_add_text(p->out, " (");
		text_add_printable(p->out, heap->version, strlen(heap->version), false);
		strbuf_add_char(p->out, ')');
	}
	if (!allocator_is_malloc(heap->allocator))
		strbuf_add_text(p->out, ": live means allocated and not yet collected");
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
}

static void add_spaces(const struct heap_page *p)
{
	static const char *const headings[] = { "LIVE", "FREE", "RESIDENT" };
	size_t begin = p->out->length;

	if (p->heap->space_count == 0)
		return;
	strbuf_addf(p->out, "\n  %-30s %10s", "SPACE", "COUNT");
	add_headings(p, headings, sizeof(headings) / sizeof(headings[0]));
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < p->heap->space_count; i++) {
		const struct heap_space *space = &p->heap->spaces[i];

		strbuf_addf(p->out, "  %-30s %10" PRIu64, space->name, space->count);
		add_amount(p, space->live_bytes);
		add_amount(p, space->free_bytes);
		add_amount(p, space->resident_bytes);
		strbuf_add_char(p->out, '\n');
	}
}

static bool has_classes(const struct heap *heap)
{
	for (size_t i = 0; i < heap->class_count; i++)
		if (heap->classes[i].live.count + heap->classes[i].free.count > 0)
			return true;
	return false;
}

void heap_runtime_add_text(const struct heap_page *p)
{
	add_spaces(p);
	if (p->detail)
		heap_detail_add_text(p);
	if (p->objects)
		heap_objects_add_text(p);
	if (has_classes(p->heap))
		heap_page_add_classes(p);
}

static void add_json_space(struct json *j, const struct heap_space *space)
{
	json_begin_object(j, NULL);
	json_add_string(j, "space", space->name);
	json_add_number(j, "count", space->count);
	json_add_amount(j, "live_bytes", space->live_bytes);
	json_add_amount(j, "free_bytes", space->free_bytes);
	json_add_amount(j, "resident_bytes", space->resident_bytes);
	json_end_object(j);
}

static void add_json_class(struct json *j, const struct heap *heap,
			   const struct heap_class *class)
{
	if (class->live.count + class->free.count + class->cached.count == 0)
		return;
	json_begin_object(j, NULL);
	json_add_number(j, "lower_bytes", class->lower_bytes);
	json_add_number(j, "upper_bytes", class->upper_bytes);
	heap_json_add_sum(j, "live", &class->live, true);
	heap_json_add_sum(j, "free", &class->free, true);
	if (allocator_is_malloc(heap->allocator))
		heap_json_add_sum(j, "cached", &class->cached, heap_caches_known(heap));
	json_end_object(j);
}

/*
 * Append the size classes of a heap. The array is empty for the heap of the process's
 * malloc, whose size classes are in the member "classes" of the whole report.
 */
static void add_json_classes(struct json *j, const struct heap_page *p, bool is_first)
{
	const struct heap *heap = p->heap;

	json_begin_array(j, "classes");
	if (!is_first || !allocator_is_malloc(heap->allocator))
		for (size_t i = 0; i < heap->class_count; i++)
			add_json_class(j, heap, &heap->classes[i]);
	json_end_array(j);
}

static void add_json_detail(struct json *j, const struct heap_page *p)
{
	if (!p->detail) {
		json_add_null(j, "detail");
		return;
	}
	json_begin_object(j, "detail");
	heap_detail_add_json(j, p);
	json_end_object(j);
}

static void add_json_heap(struct json *j, const struct heap_page *p, bool is_first)
{
	const struct heap *heap = p->heap;
	bool is_known = heap->quality != QUALITY_UNKNOWN;
	char key[48];

	json_begin_object(j, NULL);
	json_add_string(j, "heap", allocator_names[heap->allocator]);
	json_add_string(j, "title", allocator_titles[heap->allocator]);
	json_add_string(j, "version", heap->version[0] ? heap->version : NULL);
	json_add_bool(j, "is_collected", !allocator_is_malloc(heap->allocator));
	json_add_string(j, "evidence", heap->evidence);
	json_add_string(j, "quality", quality_names[heap->quality]);
	json_add_string(j, "problem", heap->problem);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		snprintf(key, sizeof(key), "%s_resident_bytes", owner_names[o]);
		json_add_amount(j, key, is_known ? heap->owner_bytes[o] : BYTES_UNKNOWN);
	}
	json_add_amount(j, "trimmable_bytes", heap->trimmable_bytes);
	json_begin_array(j, "spaces");
	for (size_t i = 0; i < heap->space_count; i++)
		add_json_space(j, &heap->spaces[i]);
	json_end_array(j);
	add_json_classes(j, p, is_first);
	heap_objects_add_json(j, p->objects);
	add_json_detail(j, p);
	json_end_object(j);
}

void heap_list_add_json(struct json *j, const struct heap_page *p)
{
	struct heap_page page = *p;

	json_begin_array(j, "heaps");
	for (size_t i = 0; i < heap_count(p->heap); i++) {
		page.heap = heap_at(p->heap, i);
		page.detail = heap_detail_at(p->detail, i);
		page.objects = heap_detail_objects(p->detail, page.heap->allocator);
		if (page.heap->allocator != ALLOCATOR_UNKNOWN)
			add_json_heap(j, &page, i == 0);
	}
	json_end_array(j);
}
