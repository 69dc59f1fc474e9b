/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/heap_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static int compare_names(const void *a, const void *b)
{
	const struct heap_object_type *type_a = a, *type_b = b;

	return strcmp(type_a->name, type_b->name);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct heap_object_type *type_a = a, *type_b = b;

	if (type_a->live.bytes != type_b->live.bytes)
		return type_a->live.bytes < type_b->live.bytes ? 1 : -1;
	return compare_names(a, b);
}

void heap_objects_add(struct heap_objects *objects, const char *name,
		      const struct chunk_sum *live)
{
	objects->types = xgrow(objects->types, &objects->type_capacity,
			       objects->type_count + 1, sizeof(*objects->types));
	objects->types[objects->type_count++] =
		(struct heap_object_type){ xstrdup(name), *live };
}

void heap_objects_sort(struct heap_objects *objects)
{
	size_t count = 0;

	if (objects->type_count == 0)
		return;
	qsort(objects->types, objects->type_count, sizeof(*objects->types),
	      compare_names);
	for (size_t i = 0; i < objects->type_count; i++) {
		struct heap_object_type *type = &objects->types[i];
		struct heap_object_type *last = count > 0 ? &objects->types[count - 1]
							  : NULL;

		if (!last || strcmp(last->name, type->name) != 0) {
			objects->types[count++] = *type;
			continue;
		}
		last->live.count += type->live.count;
		last->live.bytes += type->live.bytes;
		free(type->name);
	}
	objects->type_count = count;
	qsort(objects->types, count, sizeof(*objects->types), compare_bytes);
}

void heap_objects_release(struct heap_objects *objects)
{
	for (size_t i = 0; i < objects->type_count; i++)
		free(objects->types[i].name);
	free(objects->types);
	free(objects->pins);
	memset(objects, 0, sizeof(*objects));
}
