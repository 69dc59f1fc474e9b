/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/stacks_view.h"

#include <stdlib.h>

#include "base/xalloc.h"

void stacks_view_init(struct stacks_view *view, const struct profile *profile,
		      const struct function_names *names)
{
	size_t count = profile->node_count;

	*view = (struct stacks_view){
		.profile = profile,
		.names = names,
		.totals = xcalloc((count + 1) * PROFILE_METRIC_COUNT_,
				  sizeof(*view->totals)),
		.first_child = xcalloc(count + 1, sizeof(*view->first_child)),
		.next_sibling = xcalloc(count + 1, sizeof(*view->next_sibling)),
	};
	for (size_t i = count; i-- > 0;) {
		const struct profile_node *node = &profile->nodes[i];
		uint64_t *own = view->totals + i * PROFILE_METRIC_COUNT_;

		profile_add_values(own, node->values);
		if (i == 0)
			break;
		profile_add_values(
			view->totals + node->parent * (size_t)PROFILE_METRIC_COUNT_, own);
		view->next_sibling[i] = view->first_child[node->parent];
		view->first_child[node->parent] = (uint32_t)i;
	}
}

void stacks_view_release(struct stacks_view *view)
{
	free(view->totals);
	free(view->first_child);
	free(view->next_sibling);
}

void stacks_view_add_source(const struct stacks_view *view, struct source_line *source,
			    uint32_t node, uint64_t amount, bool is_first)
{
	const struct profile *p = view->profile;
	const struct profile_frame *frame = &p->frames[p->nodes[node].frame];
	bool is_other = !is_first &&
			(source->file != frame->file || source->line != frame->line);

	if (is_first || amount > source->max)
		*source = (struct source_line){ frame->file, frame->line,
						source->has_others, amount };
	source->has_others = source->has_others || is_other;
}
