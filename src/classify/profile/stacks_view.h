/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_view - add totals, and links from callers to callees, to a profile. */
#ifndef MS_CLASSIFY_PROFILE_STACKS_VIEW_H
#define MS_CLASSIFY_PROFILE_STACKS_VIEW_H

#include "classify/profile/function_names.h"
#include "classify/profile/tree.h"

/* Totals and links that are computed from a profile. */
struct stacks_view {
	const struct profile *profile;
	const struct function_names *names;
	/* PROFILE_METRIC_COUNT_ totals per node, including all descendants of the node */
	uint64_t *totals;
	/* first child and next sibling of each node, as node numbers; 0: none */
	uint32_t *first_child, *next_sibling;
};

static inline void profile_add_values(uint64_t *to, const uint64_t *values)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		to[m] += values[m];
}

void stacks_view_init(struct stacks_view *view, const struct profile *profile,
		      const struct function_names *names);
void stacks_view_release(struct stacks_view *view);

static inline const uint64_t *stacks_view_total(const struct stacks_view *view,
						uint32_t node)
{
	return view->totals + node * (size_t)PROFILE_METRIC_COUNT_;
}

static inline uint32_t stacks_view_name(const struct stacks_view *view, uint32_t node)
{
	return node == 0 ? FUNCTION_NONE
			 : view->names->of_frame[view->profile->nodes[node].frame];
}

/*
 * Update *source, the source line with the largest amount so far, with the line of a
 * node. `amount` is the amount of the node.
 */
void stacks_view_add_source(const struct stacks_view *view, struct source_line *source,
			    uint32_t node, uint64_t amount, bool is_first);

#endif
