/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A language runtime's objects by type, and the blocks that pin nearly empty arenas. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/heap/page.h"
#include "render/table/output.h"

/* Return the label for the bytes that do not belong to any type. */
static const char *other_title(const struct heap_objects *o)
{
	return o->allocator == ALLOCATOR_HOTSPOT ? "(regions that could not be read)"
						 : "(not objects: tables, arrays, text)";
}

static size_t shown_of(const struct heap_page *p, size_t count)
{
	return p->options->top && p->options->top < count ? p->options->top : count;
}

static void add_bytes(const struct heap_page *p, uint64_t bytes)
{
	heap_page_add_bytes(p, bytes, heap_page_bytes_width(p) + 1);
}

static void add_name(const struct heap_page *p, const char *name)
{
	strbuf_add_text(p->out, "  ");
	text_add_printable(p->out, name, strlen(name), p->options->ascii);
	strbuf_add_char(p->out, '\n');
}

static void add_row(const struct heap_page *p, const struct chunk_sum *sum,
		    const char *name)
{
	strbuf_addf(p->out, "  %14" PRIu64, sum->count);
	add_bytes(p, sum->bytes);
	add_name(p, name);
}

static void add_types(const struct heap_page *p)
{
	const struct heap_objects *o = p->objects;
	size_t shown = shown_of(p, o->type_count), begin = p->out->length;

	strbuf_addf(p->out, "\n  %14s %*s  TYPE\n", "OBJECTS", heap_page_bytes_width(p),
		    "BYTES");
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < shown; i++)
		add_row(p, &o->types[i].live, o->types[i].name);
	heap_page_add_more(p, o->type_count - shown);
	if (o->other.count > 0)
		add_row(p, &o->other, other_title(o));
	if (o->unused.count > 0)
		add_row(p, &o->unused, "(unused ends of allocation buffers)");
	if (o->problem)
		strbuf_addf(p->out, "  Some types are unknown: %s.\n", o->problem);
}

static const char *pin_name(const struct heap_objects *o,
			    const struct heap_object_pin *pin)
{
	return pin->type < o->type_count ? o->types[pin->type].name : other_title(o);
}

static void add_pins(const struct heap_page *p)
{
	const struct heap_objects *o = p->objects;
	size_t shown = shown_of(p, o->pin_count), begin;

	if (o->empty.count == 0)
		return;
	strbuf_addf(p->out,
		    "\n  %" PRIu64 " arena%s less than 10%% in use: ", o->empty.count,
		    o->empty.count == 1 ? " is" : "s are");
	heap_page_add_bytes(p, o->empty.bytes, 0);
	strbuf_add_text(p->out, " free there. Blocks that keep them:\n");
	begin = p->out->length;
	strbuf_addf(p->out, "  %14s %9s %*s  TYPE\n", "BLOCKS", "IN ARENAS",
		    heap_page_bytes_width(p), "EACH");
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < shown; i++) {
		strbuf_addf(p->out, "  %14" PRIu64 " %9" PRIu64, o->pins[i].block_count,
			    o->pins[i].arena_count);
		add_bytes(p, o->pins[i].size_bytes);
		add_name(p, pin_name(o, &o->pins[i]));
	}
	heap_page_add_more(p, o->pin_count - shown);
}

void heap_objects_add_text(const struct heap_page *p)
{
	add_types(p);
	add_pins(p);
}

static void add_json_pins(struct json *j, const struct heap_objects *o)
{
	json_begin_array(j, "pins");
	for (size_t i = 0; i < o->pin_count; i++) {
		const struct heap_object_pin *pin = &o->pins[i];

		json_begin_object(j, NULL);
		json_add_string(j, "type",
				pin->type < o->type_count ? o->types[pin->type].name
							  : NULL);
		json_add_number(j, "size_bytes", pin->size_bytes);
		json_add_number(j, "blocks", pin->block_count);
		json_add_number(j, "arenas", pin->arena_count);
		json_end_object(j);
	}
	json_end_array(j);
}

void heap_objects_add_json(struct json *j, const struct heap_objects *o)
{
	if (!o) {
		json_add_null(j, "objects");
		return;
	}
	json_begin_object(j, "objects");
	json_begin_array(j, "types");
	for (size_t i = 0; i < o->type_count; i++) {
		json_begin_object(j, NULL);
		json_add_string(j, "type", o->types[i].name);
		json_add_number(j, "count", o->types[i].live.count);
		json_add_number(j, "bytes", o->types[i].live.bytes);
		json_end_object(j);
	}
	json_end_array(j);
	json_add_number(j, "other_count", o->other.count);
	json_add_number(j, "other_bytes", o->other.bytes);
	json_add_number(j, "unused_bytes", o->unused.bytes);
	json_add_string(j, "problem", o->problem);
	json_add_number(j, "nearly_empty_arenas", o->empty.count);
	json_add_number(j, "nearly_empty_free_bytes", o->empty.bytes);
	add_json_pins(j, o);
	json_end_object(j);
}
