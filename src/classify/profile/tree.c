/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/tree.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "classify/profile/stacks_view.h"

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Compare two amounts for sorting in descending order. */
static int compare_amounts(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/*
 * State while the totals of each function are computed. `functions` has one element for
 * each function name, in the order of struct function_names.
 */
struct gather {
	struct stacks_view view;
	struct function_sums *functions;
	enum profile_metric metric;
	/* how often each function occurs in the current stack */
	unsigned int *active;
	struct call {
		uint32_t function, caller, node;
	} * calls; /* one entry for each profile node, except recursive calls */
	size_t call_count, call_capacity;
};

static void set_source(struct gather *g, struct function_sums *function, uint32_t node)
{
	const struct profile *p = g->view.profile;
	const struct profile_frame *frame = &p->frames[p->nodes[node].frame];
	const char *module = frame->module == PROFILE_NO_MODULE
				     ? NULL
				     : p->modules[frame->module].path;
	bool is_first = function->name == FUNCTION_NONE;

	/*
	 * compare addresses instead of contents, because a profile stores equal strings
	 * only once
	 */
	if (is_first || function->module != module)
		function->module = is_first ? module : NULL;
	if (is_first || function->file != frame->file)
		function->file = is_first ? frame->file : NULL;
}

/*
 * Return the rank of a node's source line among the lines of its function. The line with
 * the highest rank is shown. Lines that allocate memory themselves rank above lines that
 * only call functions.
 */
static uint64_t source_amount(const struct gather *g, uint32_t node)
{
	uint64_t self = g->view.profile->nodes[node].values[g->metric];

	return self > 0 ? self + stacks_view_total(&g->view, 0)[g->metric]
			: stacks_view_total(&g->view, node)[g->metric];
}

static void enter(struct gather *g, uint32_t node)
{
	uint32_t name = stacks_view_name(&g->view, node);
	struct function_sums *function = &g->functions[name];

	set_source(g, function, node);
	stacks_view_add_source(&g->view, &function->source, node, source_amount(g, node),
			       function->name == FUNCTION_NONE);
	function->name = name;
	profile_add_values(function->self, g->view.profile->nodes[node].values);
	if (g->active[name]++ > 0)
		return;
	profile_add_values(function->total, stacks_view_total(&g->view, node));
	g->calls =
		xgrow(g->calls, &g->call_capacity, g->call_count + 1, sizeof(*g->calls));
	g->calls[g->call_count++] = (struct call){
		name, stacks_view_name(&g->view, g->view.profile->nodes[node].parent),
		node
	};
}

/* Visit all nodes without recursion, because stacks may be arbitrarily deep. */
static void gather_all(struct gather *g)
{
	const struct stacks_view *view = &g->view;
	uint32_t node = 0;

	if (view->profile->node_count == 0)
		return;
	for (;;) {
		if (view->first_child[node]) {
			node = view->first_child[node];
			enter(g, node);
			continue;
		}
		while (node > 0 && !view->next_sibling[node]) {
			g->active[stacks_view_name(view, node)]--;
			node = view->profile->nodes[node].parent;
		}
		if (node == 0)
			return;
		g->active[stacks_view_name(view, node)]--;
		node = view->next_sibling[node];
		enter(g, node);
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *p = a, *q = b;
	int order = compare_u32(p->function, q->function);

	order = order ? order : compare_u32(p->caller, q->caller);
	return order ? order : compare_u32(p->node, q->node);
}

static int compare_callers(const void *a, const void *b, void *context)
{
	const struct function_caller *p = a, *q = b;
	const enum profile_metric *metric = context;
	int order = compare_amounts(p->total[*metric], q->total[*metric]);

	return order ? order : compare_u32(p->caller, q->caller);
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct function_sums *p = a, *q = b;
	const enum profile_metric *metric = context;
	int order = compare_amounts(p->self[*metric], q->self[*metric]);

	order = order ? order : compare_amounts(p->total[*metric], q->total[*metric]);
	return order ? order : compare_u32(p->name, q->name);
}

static void add_callers(struct function_list *list, struct gather *g,
			enum profile_metric metric)
{
	list->callers = xcalloc(g->call_count + 1, sizeof(*list->callers));
	if (g->call_count > 0)
		qsort(g->calls, g->call_count, sizeof(*g->calls), compare_calls);
	for (size_t i = 0; i < g->call_count; i++) {
		const struct call *call = &g->calls[i];
		struct function_sums *function = &g->functions[call->function];

		if (i == 0 || call[-1].function != call->function)
			function->first_caller = list->caller_count;
		if (i == 0 || call[-1].function != call->function ||
		    call[-1].caller != call->caller) {
			list->callers[list->caller_count++].caller = call->caller;
			function->caller_count++;
		}
		profile_add_values(list->callers[list->caller_count - 1].total,
				   stacks_view_total(&g->view, call->node));
	}
	for (size_t i = 0; i < g->view.names->count; i++)
		qsort_r(list->callers + g->functions[i].first_caller,
			g->functions[i].caller_count, sizeof(*list->callers),
			compare_callers, &metric);
}

void function_list_init(struct function_list *list, const struct profile *profile,
			const struct function_names *names, enum profile_metric metric)
{
	struct gather g = {
		.functions = xcalloc(names->count + 1, sizeof(*g.functions)),
		.active = xcalloc(names->count + 1, sizeof(*g.active)),
		.metric = metric,
	};

	*list = (struct function_list){ .functions = g.functions };
	for (size_t i = 0; i < names->count; i++)
		g.functions[i].name = FUNCTION_NONE;
	stacks_view_init(&g.view, profile, names);
	gather_all(&g);
	add_callers(list, &g, metric);
	/* omit functions that do not occur in any stack */
	for (size_t i = 0; i < names->count; i++)
		if (g.functions[i].name != FUNCTION_NONE)
			list->functions[list->count++] = g.functions[i];
	qsort_r(list->functions, list->count, sizeof(*list->functions), compare_functions,
		&metric);
	stacks_view_release(&g.view);
	free(g.active);
	free(g.calls);
}

void function_list_release(struct function_list *list)
{
	free(list->functions);
	free(list->callers);
	*list = (struct function_list){ 0 };
}

/* A profile node whose values are added to a node of the tree. */
struct place {
	uint32_t name;
	/* the profile node of the function that the tree node represents */
	uint32_t node;
	/*
	 * in an inverted tree: the profile node that allocated the memory, whose
	 * values are added
	 */
	uint32_t leaf;
};

struct range {
	/* Range of indexes in the array `places`, from begin to end - 1. */
	size_t begin, end;
};

struct growth {
	struct stacks_view view;
	const struct call_tree_options *options;
	struct call_tree *tree;
	struct place *places;
	size_t place_count, place_capacity;
	/*
	 * for each node of the tree, the range of elements of `places` whose values are
	 * added to the node
	 */
	struct range *ranges;
	size_t range_capacity;
	struct child {
		struct call_node node;
		struct range range;
	} * children; /* children of the node that is being expanded */
	size_t child_count, child_capacity;
};

static void add_place(struct growth *g, uint32_t node, uint32_t leaf)
{
	g->places = xgrow(g->places, &g->place_capacity, g->place_count + 1,
			  sizeof(*g->places));
	g->places[g->place_count++] =
		(struct place){ stacks_view_name(&g->view, node), node, leaf };
}

static void add_node(struct growth *g, const struct call_node *node, struct range range)
{
	struct call_tree *tree = g->tree;

	tree->nodes = xgrow(tree->nodes, &tree->capacity, tree->count + 1,
			    sizeof(*tree->nodes));
	g->ranges =
		xgrow(g->ranges, &g->range_capacity, tree->count + 1, sizeof(*g->ranges));
	g->ranges[tree->count] = range;
	tree->nodes[tree->count++] = *node;
}

/*
 * For the top level of an inverted tree, append to `places` all profile nodes that
 * allocate memory themselves.
 */
static void add_leaves(struct growth *g)
{
	const struct profile *profile = g->view.profile;

	for (uint32_t i = 1; i < profile->node_count; i++)
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			if (profile->nodes[i].values[m] > 0) {
				add_place(g, i, i);
				break;
			}
}

/*
 * In an inverted tree, append to `places` the callers that become the children of a node.
 * If a stack has no further caller, add the values of the stack to the node's own amount.
 */
static void add_callers_of(struct growth *g, size_t number)
{
	for (size_t i = g->ranges[number].begin; i < g->ranges[number].end; i++) {
		struct place place = g->places[i];
		uint32_t parent = g->view.profile->nodes[place.node].parent;

		if (parent > 0)
			add_place(g, parent, place.leaf);
		else
			profile_add_values(g->tree->nodes[number].self,
					   g->view.profile->nodes[place.leaf].values);
	}
}

static void add_callees_of(struct growth *g, size_t number)
{
	for (size_t i = g->ranges[number].begin; i < g->ranges[number].end; i++)
		for (uint32_t child = g->view.first_child[g->places[i].node]; child;
		     child = g->view.next_sibling[child])
			add_place(g, child, child);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	int order = compare_u32(p->name, q->name);

	order = order ? order : compare_u32(p->node, q->node);
	return order ? order : compare_u32(p->leaf, q->leaf);
}

static int compare_children(const void *a, const void *b, void *context)
{
	const struct call_node *p = &((const struct child *)a)->node;
	const struct call_node *q = &((const struct child *)b)->node;
	const struct call_tree_options *o = context;
	int order = o->is_by_name
			    ? 0
			    : compare_amounts(p->total[o->metric], q->total[o->metric]);

	return order ? order : compare_u32(p->name, q->name);
}

/*
 * Create the children of a node: one child for each function name in `places` from index
 * `begin` on.
 */
static void find_children(struct growth *g, size_t number, size_t begin)
{
	struct call_tree_options options = *g->options;
	bool is_inverted = g->options->is_inverted;
	struct child *child = NULL;

	g->child_count = 0;
	if (g->place_count == begin)
		return;
	qsort(g->places + begin, g->place_count - begin, sizeof(*g->places),
	      compare_places);
	for (size_t i = begin; i < g->place_count; i++) {
		const struct place *place = &g->places[i];
		const uint64_t *own = g->view.profile->nodes[place->leaf].values;
		const uint64_t *amounts =
			is_inverted ? own : stacks_view_total(&g->view, place->node);

		if (!child || child->node.name != place->name) {
			g->children = xgrow(g->children, &g->child_capacity,
					    g->child_count + 1, sizeof(*g->children));
			child = &g->children[g->child_count++];
			*child = (struct child){
				.node = { .name = place->name,
					  .parent = (uint32_t)number,
					  .depth = g->tree->nodes[number].depth + 1 },
				.range.begin = i,
			};
		}
		stacks_view_add_source(&g->view, &child->node.source, place->node,
				       amounts[options.metric], i == child->range.begin);
		child->range.end = i + 1;
		profile_add_values(child->node.total, amounts);
		if (!is_inverted)
			profile_add_values(child->node.self, own);
	}
	qsort_r(g->children, g->child_count, sizeof(*g->children), compare_children,
		&options);
}

/*
 * Add the children of a node to the tree in their sorted order: at most options->top
 * children, and no child below options->min. Add one more node for the sum of the
 * omitted children.
 */
static void keep_children(struct growth *g, size_t number)
{
	const struct call_tree_options *o = g->options;
	struct call_node cut = { .name = FUNCTION_NONE,
				 .parent = (uint32_t)number,
				 .depth = g->tree->nodes[number].depth + 1 };
	size_t first = g->tree->count;

	for (size_t i = 0; i < g->child_count; i++) {
		const struct child *child = &g->children[i];

		if ((o->top == 0 || i < o->top) &&
		    child->node.total[o->metric] >= o->min) {
			add_node(g, &child->node, child->range);
			continue;
		}
		cut.cut_count++;
		profile_add_values(cut.total, child->node.total);
	}
	if (cut.cut_count > 0)
		add_node(g, &cut, (struct range){ 0, 0 });
	g->tree->nodes[number].first_child = (uint32_t)first;
	g->tree->nodes[number].child_count = (uint32_t)(g->tree->count - first);
}

static void grow(struct growth *g, size_t number)
{
	size_t begin = g->place_count;

	if (g->tree->nodes[number].cut_count > 0)
		return;
	if (!g->options->is_inverted)
		add_callees_of(g, number);
	else if (number == 0)
		add_leaves(g);
	else
		add_callers_of(g, number);
	find_children(g, number, begin);
	keep_children(g, number);
}

void call_tree_init(struct call_tree *tree, const struct profile *profile,
		    const struct function_names *names,
		    const struct call_tree_options *options)
{
	struct growth g = { .options = options, .tree = tree };
	struct call_node all = { .name = FUNCTION_NONE };

	*tree = (struct call_tree){ 0 };
	stacks_view_init(&g.view, profile, names);
	if (profile->node_count > 0) {
		profile_add_values(all.self, profile->nodes[0].values);
		profile_add_values(all.total, stacks_view_total(&g.view, 0));
		add_place(&g, 0, 0);
	}
	add_node(&g, &all, (struct range){ 0, g.place_count });
	for (size_t i = 0; i < tree->count; i++)
		grow(&g, i);
	stacks_view_release(&g.view);
	free(g.places);
	free(g.ranges);
	free(g.children);
}

uint32_t call_tree_next(const struct call_tree *tree, uint32_t node)
{
	const struct call_node *nodes = tree->nodes;

	if (nodes[node].child_count > 0)
		return nodes[node].first_child;
	while (node > 0) {
		const struct call_node *parent = &nodes[nodes[node].parent];

		if (node + 1 < parent->first_child + parent->child_count)
			return node + 1;
		node = nodes[node].parent;
	}
	return 0;
}

void call_tree_release(struct call_tree *tree)
{
	free(tree->nodes);
	*tree = (struct call_tree){ 0 };
}
