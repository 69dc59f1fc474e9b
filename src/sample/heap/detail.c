/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detail - find the details of each heap of a process: the types of its blocks, the fill
 * levels of its pages, and its objects.
 */
#include "config.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
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

/*
 * Return the blocks of the process's heap with this index, or NULL if they are unknown.
 */
static const struct blocks *blocks_of(const struct heap_reader *reader, size_t index)
{
	if (index == 0)
		return &reader->blocks;
	return index <= reader->blocks.other_count ? &reader->blocks.others[index - 1]
						   : NULL;
}

static void detail_heap(struct heap_reader *reader, const struct heap *heap, size_t index,
			struct types *types, struct heap_detail *ret)
{
	const struct heap *part = heap_at(heap, index);
	const struct blocks *blocks = blocks_of(reader, index);

	*ret = (struct heap_detail)HEAP_DETAIL_INIT;
	if (!blocks)
		return;
	walk_detail(part, blocks, types, ret);
	if (ret->has_blocks && allocator_is_malloc(part->allocator) &&
	    !reader->names.symbols && !ret->problem)
		ret->problem = "libelf is not available: only C++ types are known, by "
			       "their type information (memstate doctor)";
}

/* Count the objects in the heaps of Python and Java. */
static void count_objects(struct heap_reader *reader, const struct walk_input *input,
			  const struct heap *heap, struct heap_detail *ret)
{
	ret->objects = xcalloc(heap_count(heap), sizeof(*ret->objects));
	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap *part = heap_at(heap, i);
		const struct blocks *blocks = blocks_of(reader, i);
		struct heap_objects *to = &ret->objects[ret->object_list_count];

		if (!blocks || part->quality == QUALITY_UNKNOWN ||
		    part->quality == QUALITY_BOUND)
			continue;
		ret->object_list_count++;
		if (part->allocator == ALLOCATOR_PYTHON)
			pymalloc_count_objects(part, blocks, &reader->names.memory, to);
		else if (part->allocator == ALLOCATOR_HOTSPOT && !reader->is_running)
			hotspot_count_objects(input, to);
		else
			ret->object_list_count--;
	}
}

/* Fill *ret for all heaps. `types` finds the types of blocks. */
static void detail_heaps(struct heap_reader *reader, const struct walk_input *input,
			 const struct heap *heap, struct types *types,
			 struct heap_detail *ret)
{
	detail_heap(reader, heap, 0, types, ret);
	ret->others = xcalloc(heap->other_count + 1, sizeof(*ret->others));
	for (size_t i = 0; i < heap->other_count; i++)
		detail_heap(reader, heap, i + 1, types, &ret->others[i]);
	ret->other_count = heap->other_count;
	count_objects(reader, input, heap, ret);
}

void heap_reader_detail(struct heap_reader *reader, const struct heap *heap,
			const struct mapping_list *mappings, struct heap_detail *ret)
{
	const struct walk_input input = { .image = &reader->image,
					  .mappings = mappings,
					  .memory = &reader->names.memory };

	names_begin(&reader->names, mappings);
	detail_heaps(reader, &input, heap, reader->names.types, ret);
	translate_types(ret);
	for (size_t i = 0; i < ret->other_count; i++)
		translate_types(&ret->others[i]);
}

void heap_reader_touch_detail(struct heap_reader *reader, const struct walk_input *input,
			      const struct heap *heap)
{
	/* do not use symbols, because they are not read from the image */
	struct types *types = types_new(NULL, &reader->names.memory);
	struct heap_detail detail;

	detail_heaps(reader, input, heap, types, &detail);
	heap_detail_release(&detail);
	types_free(types);
}
