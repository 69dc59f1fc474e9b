/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/stream.h"

/* A function by its name, which several frames may have. */
struct function {
	char *name;
	uint64_t self, total;
	uint32_t last_node; /* that was counted in total */
};

struct functions {
	struct function *items; /* by name */
	size_t count;
	uint32_t *of_frame;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static int compare_totals(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	return strcmp(left->name, right->name);
}

static char *name_of(const struct profile *profile, size_t frame)
{
	char buffer[256];

	return xstrdup(profile_frame_name(profile, &profile->frames[frame], buffer, sizeof(buffer)));
}

static void find_functions(const struct profile *profile, struct functions *ret)
{
	ret->items = xcalloc(profile->frame_count + 1, sizeof(*ret->items));
	ret->of_frame = xcalloc(profile->frame_count + 1, sizeof(*ret->of_frame));
	for (size_t i = 0; i < profile->frame_count; i++)
		ret->items[ret->count++].name = name_of(profile, i);
	qsort(ret->items, ret->count, sizeof(*ret->items), compare_names);
	for (size_t i = 0, kept = 0; i < profile->frame_count; i++) {
		if (kept > 0 && compare_names(&ret->items[kept - 1], &ret->items[i]) == 0)
			free(ret->items[i].name);
		else
			ret->items[kept++] = ret->items[i];
		ret->count = kept;
	}
	for (size_t i = 0; i < profile->frame_count; i++) {
		_cleanup_free_ char *name = name_of(profile, i);
		const struct function wanted = { .name = name };
		const struct function *found = bsearch(&wanted, ret->items, ret->count,
						       sizeof(wanted), compare_names);

		ret->of_frame[i] = (uint32_t)(found - ret->items);
	}
}

/* Each function once for a stack, however often it is in it. */
static void add_stack(const struct profile *profile, struct functions *functions, uint32_t leaf,
		      uint64_t value)
{
	for (uint32_t node = leaf; node != 0; node = profile->nodes[node].parent) {
		uint32_t number = functions->of_frame[profile->nodes[node].frame];
		struct function *function = &functions->items[number];

		if (node == leaf)
			function->self += value;
		if (function->last_node != leaf)
			function->total += value;
		function->last_node = leaf;
	}
}

static enum profile_metric metric_of(const struct profile *profile)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		if (profile->known & 1U << m)
			return (enum profile_metric)m;
	return PROFILE_ALLOCATIONS;
}

int count_show_profile(const struct options *o, const struct profile *profile)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	enum profile_metric metric = metric_of(profile);
	size_t top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP;
	struct functions functions = { 0 };

	find_functions(profile, &functions);
	for (size_t i = 1; i < profile->node_count; i++)
		if (profile->nodes[i].values[metric] > 0)
			add_stack(profile, &functions, (uint32_t)i, profile->nodes[i].values[metric]);
	qsort(functions.items, functions.count, sizeof(*functions.items), compare_totals);
	strbuf_addf(&out, "%20s %20s  FUNCTION (%s)\n", "SELF", "TOTAL",
		    profile_metrics[metric].what);
	for (size_t i = 0; i < functions.count && i < top; i++) {
		const struct function *function = &functions.items[i];

		strbuf_addf(&out, "%20" PRIu64 " %20" PRIu64 "  ", function->self, function->total);
		text_add_printable(&out, function->name, strlen(function->name), false);
		strbuf_add_char(&out, '\n');
	}
	for (size_t i = 0; i < functions.count; i++)
		free(functions.items[i].name);
	free(functions.items);
	free(functions.of_frame);
	return stream_finish(&out, EXIT_DONE);
}
