/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "model/allocator_signs.h"
#include "model/image.h"
#include "render/heap/page.h"
#include "render/table/output.h"

/*
 * Size of a strip of characters that shows the pages of one mapping, with several pages
 * per character. STRIP_LINES is the maximum number of lines; STRIP_WIDTH is the width if
 * the width of the report is not limited.
 */
#define STRIP_LINES 2
#define STRIP_WIDTH 76
#define STRIPS_SHOWN 2

#define TYPE_WIDTH_MIN 20

/* Characters that show how much of a small range of pages is in use, from none to all. */
static const char fill_signs[FILL_COUNT_] = { '.', ':', '-', '+', '*', '#' };

static size_t shown_of(const struct heap_page *p, size_t count)
{
	return p->options->top && p->options->top < count ? p->options->top : count;
}

static void add_number(const struct heap_page *p, uint64_t number)
{
	strbuf_addf(p->out, "%12" PRIu64, number);
}

static void add_bytes(const struct heap_page *p, uint64_t bytes)
{
	heap_page_add_bytes(p, bytes, heap_page_bytes_width(p) + 1);
}

static void add_heading(const struct heap_page *p, const char *heading)
{
	strbuf_addf(p->out, "%*s", heap_page_bytes_width(p) + 1, heading);
}

/*
 * Append the name of a type, cut off at the edge of the terminal. The name is the last
 * column of the line that starts at offset `begin` of the output.
 */
static void add_type_name(const struct heap_page *p, const struct heap_type *type,
			  size_t begin)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t used = p->out->length - begin + 2;
	size_t width = p->options->width > 0 ? (size_t)p->options->width : 0;

	if (type->name)
		text_add_printable(&name, type->name, strlen(type->name),
				   p->options->ascii);
	else
		strbuf_add_char(&name, '-');
	if (width && width < used + TYPE_WIDTH_MIN)
		width = used + TYPE_WIDTH_MIN;
	strbuf_add_text(p->out, "  ");
	strbuf_add(p->out, name.text,
		   width ? text_cut_to_width(name.text, name.length, width - used)
			 : name.length);
	strbuf_add_char(p->out, '\n');
}

static void add_size(const struct heap_page *p, const struct heap_type *type)
{
	if (type->size_bytes)
		add_bytes(p, type->size_bytes);
	else
		add_heading(p, "differs");
}

static void add_types(const struct heap_page *p)
{
	const struct heap_detail *d = p->detail;
	size_t shown = shown_of(p, d->type_count), heading = p->out->length;

	strbuf_addf(p->out, "\n  %12s", "LIVE BLOCKS");
	add_heading(p, "BYTES");
	add_heading(p, "RESIDENT");
	add_heading(p, "EACH");
	strbuf_add_text(p->out, "  TYPE\n");
	heap_page_mark_heading(p, heading);
	for (size_t i = 0; i < shown; i++) {
		const struct heap_type *type = &d->types[i];
		size_t begin = p->out->length;

		strbuf_add_text(p->out, "  ");
		add_number(p, type->live.count);
		add_bytes(p, type->live.bytes);
		add_bytes(p, type->resident_bytes);
		add_size(p, type);
		add_type_name(p, type, begin);
	}
	heap_page_add_more(p, d->type_count - shown);
	if (d->problem)
		strbuf_addf(p->out, "  Some types are unknown: %s.\n", d->problem);
}

static void add_fill(const struct heap_page *p)
{
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-12s%12s", "PAGES IN USE", "PAGES");
	add_heading(p, "BYTES");
	add_heading(p, "FREE");
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < FILL_COUNT_; i++) {
		const struct page_sum *sum = &p->detail->fill[i];

		strbuf_addf(p->out, "  %-10s %c", page_fill_names[i], fill_signs[i]);
		add_number(p, sum->page_count);
		add_bytes(p, sum->page_count * IMAGE_PAGE_BYTES);
		add_bytes(p, sum->free_bytes);
		strbuf_add_char(p->out, '\n');
	}
}

static void add_pins(const struct heap_page *p)
{
	const struct heap_detail *d = p->detail;
	size_t shown = heap_page_count_shown(p, d->pin_count), heading;

	if (d->pin_count == 0)
		return;
	strbuf_addf(p->out,
		    "\n  %" PRIu64 " page%s at least half free, but not entirely: ",
		    d->fragmented.page_count,
		    d->fragmented.page_count == 1 ? " is" : "s are");
	heap_page_add_bytes(p, d->fragmented.free_bytes, 0);
	strbuf_add_text(p->out, " is free. Blocks on these pages:\n");
	heading = p->out->length;
	strbuf_addf(p->out, "  %12s%12s%12s", "BLOCKS", "ON PAGES", "ALONE ON");
	add_heading(p, "EACH");
	strbuf_add_text(p->out, "  TYPE\n");
	heap_page_mark_heading(p, heading);
	for (size_t i = 0; i < shown; i++) {
		const struct heap_type *type = &d->types[d->pins[i]];
		size_t begin = p->out->length;

		strbuf_add_text(p->out, "  ");
		add_number(p, type->pin.block_count);
		add_number(p, type->pin.pages.page_count);
		add_number(p, type->pin.alone_page_count);
		add_size(p, type);
		add_type_name(p, type, begin);
	}
	heap_page_add_more(p, d->pin_count - shown);
}

static void add_strip(const struct heap_page *p, const struct heap_strip *strip,
		      size_t width)
{
	size_t per_sign = strip->cell_count / (width * STRIP_LINES) +
			  (strip->cell_count % (width * STRIP_LINES) != 0);
	uint64_t pages = strip->pages_per_cell * per_sign;
	size_t column = 0;

	if (!allocator_is_malloc(p->heap->allocator))
		strbuf_add_text(p->out, "\n  Pages in address order");
	else if (strip->is_mapped)
		strbuf_add_text(p->out, "\n  Blocks in their own mappings");
	else
		strbuf_addf(p->out, "\n  Arena %zu", (size_t)strip->arena);
	strbuf_addf(p->out, ": %" PRIu64 " page%s, %" PRIu64 " per character\n",
		    strip->sum.page_count, strip->sum.page_count == 1 ? "" : "s", pages);
	for (size_t i = 0; i < strip->cell_count; i += per_sign) {
		struct page_sum sum = { 0, 0 };

		for (size_t k = i; k < i + per_sign && k < strip->cell_count; k++) {
			sum.page_count += strip->cells[k].page_count;
			sum.free_bytes += strip->cells[k].free_bytes;
		}
		if (column == 0)
			strbuf_add_text(p->out, "  ");
		strbuf_add_char(
			p->out,
			fill_signs[page_fill_of(sum.free_bytes,
						sum.page_count * IMAGE_PAGE_BYTES)]);
		if (++column == width) {
			strbuf_add_char(p->out, '\n');
			column = 0;
		}
	}
	if (column > 0)
		strbuf_add_char(p->out, '\n');
}

static void add_strips(const struct heap_page *p)
{
	const struct heap_detail *d = p->detail;
	size_t width = p->options->width > 4 ? (size_t)p->options->width - 4
					     : STRIP_WIDTH;
	size_t shown = d->strip_count < STRIPS_SHOWN ? d->strip_count : STRIPS_SHOWN;
	size_t more = d->strip_count - shown;

	for (size_t i = 0; i < shown; i++)
		add_strip(p, &d->strips[i], width);
	if (more > 0)
		strbuf_addf(p->out, "  and %zu more arena%s (--json has %s)\n", more,
			    more == 1 ? "" : "s", more == 1 ? "it" : "them");
}

void heap_detail_add_text(const struct heap_page *p)
{
	add_fill(p);
	/*
	 * the types of a runtime's blocks are unknown, so add_types() would group the
	 * blocks only by size, as the table of size classes already does
	 */
	if (p->detail->has_blocks && allocator_is_malloc(p->heap->allocator))
		add_types(p);
	add_pins(p);
	add_strips(p);
}

/* The functions below write the details as JSON. */

static void add_json_type(struct json *j, const struct heap_type *type)
{
	const struct heap_pin *pin = &type->pin;

	json_begin_object(j, NULL);
	json_add_string(j, "name", type->name);
	json_add_amount(j, "size_bytes",
			type->size_bytes ? type->size_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "live_count", type->live.count);
	json_add_amount(j, "live_bytes", type->live.bytes);
	json_add_amount(j, "resident_bytes", type->resident_bytes);
	json_add_amount(j, "pinning_count", pin->block_count);
	json_add_amount(j, "pinned_pages", pin->pages.page_count);
	json_add_amount(j, "pinned_free_bytes", pin->pages.free_bytes);
	json_add_amount(j, "pinned_alone_pages", pin->alone_page_count);
	json_end_object(j);
}

/*
 * Return the used percentage of a whole. Return 0 only if nothing is used, and 100 only
 * if everything is used.
 */
static uint64_t used_percent(const struct page_sum *sum)
{
	uint64_t all = sum->page_count * IMAGE_PAGE_BYTES;
	uint64_t percent = all ? (all - sum->free_bytes) * 100 / all : 0;

	return percent == 0 && sum->free_bytes < all ? 1 : percent;
}

static void add_json_strip(struct json *j, const struct heap_page *p,
			   const struct heap_strip *strip)
{
	bool has_arena = allocator_is_malloc(p->heap->allocator) && !strip->is_mapped &&
			 strip->arena < p->heap->arena_count;

	json_begin_object(j, NULL);
	json_add_amount(j, "arena", has_arena ? strip->arena : BYTES_UNKNOWN);
	json_add_address(j, "start", strip->start_addr);
	json_add_address(j, "end", strip->end_addr);
	json_add_amount(j, "pages", strip->sum.page_count);
	json_add_amount(j, "free_bytes", strip->sum.free_bytes);
	json_add_amount(j, "pages_per_cell", strip->pages_per_cell);
	json_begin_array(j, "used_percent");
	for (size_t i = 0; i < strip->cell_count; i++)
		json_add_number(j, NULL, used_percent(&strip->cells[i]));
	json_end_array(j);
	json_end_object(j);
}

void heap_detail_add_json(struct json *j, const struct heap_page *p)
{
	const struct heap_detail *d = p->detail;
	size_t shown = shown_of(p, d->type_count);

	json_begin_array(j, "pages");
	for (size_t i = 0; i < FILL_COUNT_; i++) {
		json_begin_object(j, NULL);
		json_add_string(j, "in_use", page_fill_names[i]);
		json_add_number(j, "pages", d->fill[i].page_count);
		json_add_number(j, "free_bytes", d->fill[i].free_bytes);
		json_end_object(j);
	}
	json_end_array(j);
	json_add_amount(j, "fragmented_pages", d->fragmented.page_count);
	json_add_amount(j, "fragmented_free_bytes", d->fragmented.free_bytes);
	if (d->has_blocks) {
		json_begin_array(j, "types");
		for (size_t i = 0; i < shown; i++)
			add_json_type(j, &d->types[i]);
		json_end_array(j);
	} else {
		json_add_null(j, "types");
	}
	json_add_string(j, "types_problem", d->problem);
	json_begin_array(j, "map");
	for (size_t i = 0; i < d->strip_count; i++)
		add_json_strip(j, p, &d->strips[i]);
	json_end_array(j);
}
