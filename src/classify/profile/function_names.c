/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/function_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Size of buffers for generated names, which consist of a module and an address. */
#define FRAME_NAME_SIZE 256

struct named {
	char *name;
	size_t frame;
};

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

void function_names_init(struct function_names *names, const struct profile *profile)
{
	size_t count = profile->frame_count;
	struct named *order = xcalloc(count + 1, sizeof(*order));
	char buffer[FRAME_NAME_SIZE];

	*names = (struct function_names){
		.names = xcalloc(count + 1, sizeof(*names->names)),
		.of_frame = xcalloc(count + 1, sizeof(*names->of_frame)),
	};
	for (size_t i = 0; i < count; i++)
		order[i] = (struct named){ xstrdup(profile_frame_name(
						   profile, &profile->frames[i], buffer,
						   sizeof(buffer))),
					   i };
	qsort(order, count, sizeof(*order), compare_named);
	for (size_t i = 0; i < count; i++) {
		if (names->count > 0 &&
		    strcmp(names->names[names->count - 1], order[i].name) == 0)
			free(order[i].name);
		else
			names->names[names->count++] = order[i].name;
		names->of_frame[order[i].frame] = (uint32_t)(names->count - 1);
	}
	free(order);
}

void function_names_release(struct function_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	free(names->of_frame);
	*names = (struct function_names){ 0 };
}
