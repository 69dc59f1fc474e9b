/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

const char *const profile_diff_kind_names[DIFF_KIND_COUNT_] = {
	[DIFF_ONLY_BEFORE] = "only_before", [DIFF_ONLY_AFTER] = "only_after",
	[DIFF_CHANGED] = "changed",	    [DIFF_EQUAL] = "equal",
	[DIFF_LEFT_OUT] = "left_out",
};

/* Amounts of a stack in two compared profiles. A node of `keys` identifies the stack. */
struct tally {
	uint64_t before, after;
	/*
	 * true if a compared stack ends at this node; false if the node only leads to
	 * longer stacks
	 */
	bool is_key;
	bool has_more_callers;
};

struct matching {
	const struct profile_diff_options *options;
	struct profile *keys;
	struct tally *tallies;
	/* number of allocated elements in tallies; unused elements are 0 */
	size_t capacity;
};

static struct tally *tally_of(struct matching *m, uint32_t key)
{
	size_t had = m->capacity;

	m->tallies = xgrow(m->tallies, &m->capacity, m->keys->node_count + 1,
			   sizeof(*m->tallies));
	memset(m->tallies + had, 0, (m->capacity - had) * sizeof(*m->tallies));
	return &m->tallies[key];
}

/*
 * Map each frame of a profile to the frame in m->keys that has the same function name.
 * Add missing frames to m->keys. The caller frees the returned array.
 */
static uint32_t *name_frames(struct matching *m, const struct profile *profile)
{
	uint32_t *named = xcalloc(profile->frame_count + 1, sizeof(*named));
	char buffer[256];

	for (size_t i = 0; i < profile->frame_count; i++) {
		struct profile_frame frame = { .module = PROFILE_NO_MODULE };

		frame.function = profile_frame_name(profile, &profile->frames[i], buffer,
						    sizeof(buffer));
		named[i] = profile_add_frame(m->keys, &frame);
	}
	return named;
}

/*
 * Add the compared functions of a stack to the tree m->keys, and return the node of the
 * outermost one. `node` is the innermost node of the stack in the profile. Set
 * *ret_goes_on if the stack has callers beyond the compared functions.
 */
static uint32_t key_of(struct matching *m, const struct profile *profile,
		       const uint32_t *named, size_t node, bool *ret_goes_on)
{
	uint32_t key = 0;
	size_t depth = 0, at = node;

	while (at != 0 && (m->options->depth == 0 || depth < m->options->depth)) {
		uint32_t frame = profile->nodes[at].frame;

		key = profile_add_node(m->keys, key, named[frame]);
		depth += !profile->frames[frame].is_inlined;
		at = profile->nodes[at].parent;
	}
	*ret_goes_on = at != 0;
	return key;
}

static void add_profile(struct matching *m, const struct profile *profile, bool is_after)
{
	uint32_t *named = name_frames(m, profile);

	for (size_t i = 0; i < profile->node_count; i++) {
		uint64_t value = profile->nodes[i].values[m->options->metric];
		struct tally *tally;
		bool has_more_callers;

		if (value == 0)
			continue;
		tally = tally_of(m, key_of(m, profile, named, i, &has_more_callers));
		tally->is_key = true;
		tally->has_more_callers = tally->has_more_callers || has_more_callers;
		*(is_after ? &tally->after : &tally->before) += value;
	}
	free(named);
}

static enum profile_diff_kind kind_of(const struct tally *t, uint64_t minimum)
{
	if (t->before <= minimum && t->after <= minimum)
		return DIFF_LEFT_OUT;
	if (t->before == t->after)
		return DIFF_EQUAL;
	if (t->after == 0)
		return DIFF_ONLY_BEFORE;
	return t->before == 0 ? DIFF_ONLY_AFTER : DIFF_CHANGED;
}

static void add_sum(struct profile_diff_sum *sum, const struct tally *t)
{
	sum->stack_count++;
	sum->before += t->before;
	sum->after += t->after;
}

static bool has_grown_more(const struct tally *t, const struct profile_diff_stack *max)
{
	return t->after > t->before && t->after - t->before > max->after - max->before;
}

static void collect(const struct matching *m, struct profile_diff *diff)
{
	size_t capacity = 0;

	for (size_t i = 0; i < m->capacity; i++) {
		const struct tally *t = &m->tallies[i];
		struct profile_diff_stack stack = {
			.kind = kind_of(t, m->options->minimum),
			.before = t->before,
			.after = t->after,
			.key = (uint32_t)i,
			.has_more_callers = t->has_more_callers,
		};

		if (!t->is_key)
			continue;
		add_sum(&diff->sums[stack.kind], t);
		add_sum(&diff->total, t);
		if (has_grown_more(t, &diff->most_grown))
			diff->most_grown = stack;
		if (stack.kind >= DIFF_LISTED_COUNT_)
			continue;
		diff->stacks = xgrow(diff->stacks, &capacity, diff->stack_count + 1,
				     sizeof(*diff->stacks));
		diff->stacks[diff->stack_count++] = stack;
	}
}

static uint64_t change_of(const struct profile_diff_stack *stack)
{
	return stack->after > stack->before ? stack->after - stack->before
					    : stack->before - stack->after;
}

/*
 * Compare two stacks by their function names. A comparison of node numbers would make the
 * order depend on which profile was read first.
 */
static int compare_names(const struct profile *keys, uint32_t a, uint32_t b)
{
	while (a != b && a != 0 && b != 0) {
		int order = strcmp(keys->frames[keys->nodes[a].frame].function,
				   keys->frames[keys->nodes[b].frame].function);

		if (order != 0)
			return order;
		a = keys->nodes[a].parent;
		b = keys->nodes[b].parent;
	}
	return (a != 0) - (b != 0);
}

static int compare_stacks(const void *a, const void *b, void *context)
{
	const struct profile_diff_stack *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (change_of(left) != change_of(right))
		return change_of(left) > change_of(right) ? -1 : 1;
	return compare_names(context, left->key, right->key);
}

void profile_diff_make(const struct profile *before, const struct profile *after,
		       const struct profile_diff_options *options,
		       struct profile_diff *ret)
{
	struct profile_diff diff = { 0 };
	struct matching m = { .options = options, .keys = &diff.keys };

	profile_init(&diff.keys);
	add_profile(&m, before, false);
	add_profile(&m, after, true);
	collect(&m, &diff);
	free(m.tallies);
	if (diff.stack_count > 0)
		qsort_r(diff.stacks, diff.stack_count, sizeof(*diff.stacks),
			compare_stacks, &diff.keys);
	*ret = diff;
}

void profile_diff_release(struct profile_diff *diff)
{
	profile_release(&diff->keys);
	free(diff->stacks);
	*diff = (struct profile_diff){ 0 };
}

size_t profile_diff_functions(const struct profile_diff *diff,
			      const struct profile_diff_stack *stack,
			      const char ***ret_names)
{
	const struct profile *keys = &diff->keys;
	const char **names;
	size_t count = 0;

	for (uint32_t at = stack->key; at != 0; at = keys->nodes[at].parent)
		count++;
	names = xcalloc(count + 1, sizeof(*names));
	for (uint32_t at = stack->key, i = 0; at != 0; at = keys->nodes[at].parent, i++)
		names[count - 1 - i] = keys->frames[keys->nodes[at].frame].function;
	*ret_names = names;
	return count;
}
