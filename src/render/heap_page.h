/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_page - what the parts of the heap report share. Internal to render/.
 */
#ifndef MS_RENDER_HEAP_PAGE_H
#define MS_RENDER_HEAP_PAGE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/usage.h"
#include "render/heap_report.h"

struct heap_page {
	struct strbuf *out;
	const struct usage *usage;
	const struct heap *heap;
	const struct heap_detail *detail;
	const struct heap_report_options *options;
};

void heap_page_add_bytes(const struct heap_page *p, uint64_t bytes, int width);

/* How wide a column of bytes is. */
int heap_page_bytes_width(const struct heap_page *p);

/* What of a list is left out, if anything. */
void heap_page_add_more(const struct heap_page *p, size_t more);

/* A line: what, how many, how much. */
void heap_page_add_sum(const struct heap_page *p, const char *label,
		       const struct chunk_sum *sum);

/* How many threads have a cache. */
void heap_page_add_caches(const struct heap_page *p);

/* Lists are not read of a process that runs: what is in them counts as live. */
bool heap_lists_known(const struct heap *heap);

/* ,"key":value; null if it is unknown. */
void heap_json_add_number(struct strbuf *out, const char *key, uint64_t value);

/* ,"key_count":…,"key_bytes":…; null if they are not known. */
void heap_json_add_sum(struct strbuf *out, const char *key, const struct chunk_sum *sum,
		       bool is_known);

/* heap_jemalloc.c: what is said of jemalloc where glibc's malloc has other things. */
void heap_jemalloc_add_sums(const struct heap_page *p);
void heap_jemalloc_add_arenas(const struct heap_page *p);
void heap_jemalloc_add_json_arena(struct strbuf *out, const struct heap *heap,
				  const struct heap_arena *arena);

/* What jemalloc says of all, as mallctl(3) does under stats. */
void heap_jemalloc_add_json_sums(struct strbuf *out, const struct heap *heap);

/*
 * heap_helper.c: what the allocator said, and what a walk found of the same. Nothing
 * where it was not to be asked.
 */
void heap_helper_add_text(const struct heap_page *p);

/* A member of the object that is being written. */
void heap_helper_add_json(const struct heap_page *p);

/* heap_detail_report.c: types, pages and pins. */
void heap_detail_add_text(const struct heap_page *p);

/* Members of the object that is being written. */
void heap_detail_add_json(const struct heap_page *p);

#endif
