/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - functions shared by the source files of the heap report. Internal to render/. */
#ifndef MS_RENDER_HEAP_PAGE_H
#define MS_RENDER_HEAP_PAGE_H

#include <stdbool.h>

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/usage.h"
#include "render/heap/report.h"

/* maximum number of rows of each list of details in a short report */
#define HEAP_SHORT_ROWS 5

struct heap_page {
	struct strbuf *out;
	const struct usage *usage;
	const struct heap *heap;
	/*
	 * The details of `heap`, or NULL if they are unknown. For functions that write
	 * all heaps as JSON or CSV, these are the details of the first heap, which also
	 * contain the details of the other heaps.
	 */
	const struct heap_detail *detail;
	/* objects in this heap; NULL if they were not counted */
	const struct heap_objects *objects;
	const struct heap_report_options *options;
};

/* Append a number of bytes, right-aligned in `width` columns. */
void heap_page_add_bytes(const struct heap_page *p, uint64_t bytes, int width);

/* Return the width, in characters, of a table column that shows byte counts. */
int heap_page_bytes_width(const struct heap_page *p);

/*
 * Return how many of the `count` rows of a list to show. Used for lists of details, such
 * as arenas or size classes.
 */
size_t heap_page_count_shown(const struct heap_page *p, size_t count);

/*
 * If `more` rows of a list are not shown, append "and N more (--top N)". Append nothing
 * if `more` is 0.
 */
void heap_page_add_more(const struct heap_page *p, size_t more);

/*
 * Format the last line as the heading of a table. `begin` is the length of the report
 * before that line.
 */
void heap_page_mark_heading(const struct heap_page *p, size_t begin);

/* Append a line with a label, a count and a number of bytes. */
void heap_page_add_sum(const struct heap_page *p, const char *label,
		       const struct chunk_sum *sum);

/*
 * Append a table of an arena's page ranges. labels[] contains a label for each kind of
 * range, or NULL if the allocator has no ranges of that kind.
 */
void heap_page_add_stretches(const struct heap_page *p, const struct heap_arena *arena,
			     const char *title,
			     const char *const labels[HEAP_STRETCH_COUNT_]);

/* Append the number of threads with a thread cache. */
void heap_page_add_caches(const struct heap_page *p);

/*
 * Return true if the allocator's free lists were read. They cannot be read while the
 * process runs; the blocks in free lists then count as live.
 */
bool heap_lists_known(const struct heap *heap);

/* Return true if the allocator gives large blocks their own mappings. */
bool heap_has_mapped(const struct heap *heap);

/*
 * Append the JSON members NAME_count and NAME_bytes. Both are null unless is_known
 * is set.
 */
void heap_json_add_sum(struct json *j, const char *name, const struct chunk_sum *sum,
		       bool is_known);

/* Append the JSON members NAME_count, NAME_bytes and NAME_resident_bytes. */
void heap_json_add_stretch(struct json *j, const char *name,
			   const struct stretch_sum *sum, bool is_known);

/* Return true if the allocator has thread caches and heap_lists_known() is true. */
bool heap_caches_known(const struct heap *heap);

/* Append the table of size classes. */
void heap_page_add_classes(const struct heap_page *p);

/*
 * Append the titles of all heaps of the process, such as "glibc malloc and Go
 * heap" (list.c).
 */
void heap_list_add_titles(struct strbuf *out, const struct heap *heap);

/* Append the table of all heaps, with the resident bytes of each. */
void heap_list_add_text(const struct heap_page *p);

/* Append the title line of the section about one of several heaps. */
void heap_list_add_title(const struct heap_page *p);

/*
 * Append the JSON member "heaps", which contains all heaps of the process. p->detail has
 * the details of all these heaps.
 */
void heap_list_add_json(struct json *j, const struct heap_page *p);

/*
 * Append the table of a runtime's objects, and the table of the blocks that pin its
 * nearly empty arenas.
 */
void heap_objects_add_text(const struct heap_page *p);

/*
 * Append the JSON member "objects" for the objects in a heap. It is null if
 * `objects` is NULL.
 */
void heap_objects_add_json(struct json *j, const struct heap_objects *objects);

/*
 * Append the sections about the heap of a language runtime: its memory spaces, details
 * and size classes (list.c).
 */
void heap_runtime_add_text(const struct heap_page *p);

/*
 * Append the fields of mallinfo2(3), which memstate computes from its walk of the
 * heap (mallinfo.c).
 */
void heap_mallinfo_add_text(const struct heap_page *p);
void heap_mallinfo_add_json(struct json *j, const struct heap *heap);

/* Append the sums over the groups of musl's mallocng (mallocng.c). */
void heap_mallocng_add_sums(const struct heap_page *p);

/* Append the sums over all groups of mallocng as members of the current JSON object. */
void heap_mallocng_add_json_arena(struct json *j, const struct heap *heap,
				  const struct heap_arena *arena);

/* Append the sums over the pages of mimalloc (mimalloc.c). */
void heap_mimalloc_add_sums(const struct heap_page *p);
void heap_mimalloc_add_json_arena(struct json *j, const struct heap_arena *arena);

/* Append the sums over the spans of tcmalloc (tcmalloc.c). */
void heap_tcmalloc_add_sums(const struct heap_page *p);
void heap_tcmalloc_add_json_arena(struct json *j, const struct heap_arena *arena);

/*
 * Append the sections for a jemalloc heap, which replace the sections for glibc's malloc
 * (jemalloc.c).
 */
void heap_jemalloc_add_sums(const struct heap_page *p);
void heap_jemalloc_add_arenas(const struct heap_page *p);
void heap_jemalloc_add_json_arena(struct json *j, const struct heap *heap,
				  const struct heap_arena *arena);

/* Append jemalloc's totals as JSON, with the names that mallctl(3) uses under "stats". */
void heap_jemalloc_add_json_sums(struct json *j, const struct heap *heap);

/*
 * Append the allocator's own figures, each next to the same figure from memstate's walk
 * (helper.c). Append nothing if memstate was not asked to query the allocator.
 */
void heap_helper_add_text(const struct heap_page *p);

/* Append the allocator's own figures as members of the current JSON object. */
void heap_helper_add_json(struct json *j, const struct heap_page *p);

/*
 * Append the use of pages, the types of malloc's blocks, the blocks that pin pages, and
 * the maps of the pages (detail_report.c), as far as they are known. p->detail must not
 * be NULL.
 */
void heap_detail_add_text(const struct heap_page *p);

/*
 * Append the types of blocks, the use of pages, the blocks that pin pages, and the maps
 * of the pages as members of the current JSON object. "types" is null if the types are
 * unknown. p->detail must not be NULL.
 */
void heap_detail_add_json(struct json *j, const struct heap_page *p);

#endif
