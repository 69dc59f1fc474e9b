/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/golang/walk.h"

#include <stdlib.h>

#include "base/xalloc.h"

/*
 * Upper bound on the number of objects in all spans: one for each 4 bytes of the copy,
 * plus this constant. Objects have more than 4 bytes, but a span may have objects on
 * pages that the program never touched.
 */
#define OBJECTS_MIN (UINT64_C(4) << 20)

/*
 * Record a struct mspan that is not resident. It may be swapped out. If the mapping has
 * no swapped-out memory, the page was never touched.
 */
static void add_absent(struct golang *g, uint64_t addr)
{
	const struct mapping *m = mapping_list_find(g->input->mappings, addr);

	if (walk_is_swapped(g->input, addr) ||
	    walk_is_swapped(g->input, addr + GOLANG_SPAN_BYTES - 1))
		g->lacks_spans = true;
	else if (!m || m->counters.bytes[SMAPS_SWAP] != 0)
		g->broken_count++;
}

/* Return true if the whole span is in mappings that the walkers read. */
static bool is_readable(const struct golang *g, const struct golang_span *span)
{
	uint64_t addr = span->start_addr;

	while (addr < span->end_addr) {
		const struct mapping *m = mapping_list_find(g->input->mappings, addr);

		if (!m || !walk_wants_mapping(m))
			return false;
		addr = m->end_addr;
	}
	return true;
}

static bool is_valid(const struct golang *g, const struct golang_span *span)
{
	if (span->end_addr == 0 || !is_readable(g, span))
		return false;
	return span->state == GOLANG_MANUAL || golang_is_sound(span);
}

static void add_span(struct golang *g, uint64_t addr)
{
	struct golang_span span;

	if (!golang_read_span(g->image, addr, g->layout, &span)) {
		add_absent(g, addr);
		return;
	}
	if (span.state == GOLANG_DEAD)
		return;
	if (!is_valid(g, &span)) {
		g->broken_count++;
		return;
	}
	g->spans =
		xgrow(g->spans, &g->span_capacity, g->span_count + 1, sizeof(*g->spans));
	g->spans[g->span_count++] = span;
}

static int compare_spans(const void *a, const void *b)
{
	const struct golang_span *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

/* Mark spans that overlap as broken. */
static void check_places(struct golang *g)
{
	size_t last = 0;

	if (g->span_count > 0)
		qsort(g->spans, g->span_count, sizeof(*g->spans), compare_spans);
	for (size_t i = 1; i < g->span_count; i++) {
		struct golang_span *span = &g->spans[i];

		if (span->start_addr < g->spans[last].end_addr)
			span->is_broken = g->spans[last].is_broken = true;
		if (span->end_addr > g->spans[last].end_addr)
			last = i;
	}
}

void golang_read_spans(struct golang *g)
{
	uint64_t max = g->image->length_bytes / 4 + OBJECTS_MIN;

	for (uint64_t i = 0; i < g->list_count; i++) {
		uint64_t at = g->list_addr + 8 * i, addr;

		if (image_read(g->image, at, &addr)) {
			add_span(g, addr);
			continue;
		}
		if (!walk_is_swapped(g->input, at)) {
			g->broken_count++;
			break;
		}
		g->lacks_spans = true;
		/* continue on the next page */
		i += (IMAGE_PAGE_BYTES - at % IMAGE_PAGE_BYTES) / 8 - 1;
	}
	check_places(g);
	for (size_t i = 0; i < g->span_count; i++) {
		struct golang_span *span = &g->spans[i];

		if (g->bit_count + span->object_count > max)
			span->is_broken = true;
		g->broken_count += span->is_broken;
		if (span->is_broken || span->state != GOLANG_IN_USE)
			continue;
		span->first_bit = g->bit_count;
		g->bit_count += span->object_count;
	}
}
