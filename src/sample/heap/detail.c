/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detail - collect the types, objects and page figures for the report on one heap. */
#include "config.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sample/heap/reader.h"
#include "sample/heap/swift.h"
#include "walk/blocks/detail.h"
#include "walk/hotspot/objects.h"
#include "walk/pymalloc/objects.h"

static void translate_types(struct heap_detail *detail)
{
	_cleanup_free_ char **names = xcalloc(detail->type_count + 1, sizeof(*names));

	for (size_t i = 0; i < detail->type_count; i++)
		names[i] = detail->types[i].name;
	swift_translate(names, detail->type_count, SWIFT_TYPES);
	for (size_t i = 0; i < detail->type_count; i++)
		detail->types[i].name = names[i];
}

/* Count the objects in the heaps of runtimes whose objects have types. */
static void count_objects(struct heap_reader *reader, const struct heap *heap,
			  const struct mapping_list *mappings, struct heap_detail *ret)
{
	const struct walk_input input = { .image = &reader->image,
					  .mappings = mappings,
					  .memory = &reader->names.memory };

	ret->objects = xcalloc(heap_count(heap), sizeof(*ret->objects));
	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap *part = heap_at(heap, i);
		const struct blocks *blocks = i == 0 ? &reader->blocks
						     : &reader->blocks.others[i - 1];
		struct heap_objects *to = &ret->objects[ret->object_list_count];

		if (part->quality == QUALITY_UNKNOWN || part->quality == QUALITY_BOUND)
			continue;
		ret->object_list_count++;
		if (part->allocator == ALLOCATOR_PYTHON)
			pymalloc_count_objects(part, blocks, &reader->names.memory, to);
		else if (part->allocator == ALLOCATOR_HOTSPOT && !reader->is_running)
			hotspot_count_objects(&input, to);
		else
			ret->object_list_count--;
	}
}

void heap_reader_detail(struct heap_reader *reader, const struct heap *heap,
			const struct mapping_list *mappings, struct heap_detail *ret)
{
	names_begin(&reader->names, mappings);
	walk_detail(&reader->blocks, reader->names.types, ret);
	translate_types(ret);
	count_objects(reader, heap, mappings, ret);
	if (!reader->names.symbols && !ret->problem)
		ret->problem = "libelf is not available: only C++ types are known, by "
			       "their type information (memstate doctor)";
}
