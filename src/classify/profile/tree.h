/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - summarise a profile by function name: how much each function allocates with and
 * without its callees, which functions call it, and the call tree.
 *
 * Names are those of profile_frame_name(). Stacks that differ only in line numbers or
 * addresses are merged.
 */
#ifndef MS_CLASSIFY_PROFILE_TREE_H
#define MS_CLASSIFY_PROFILE_TREE_H

#include "classify/profile/function_names.h"

/*
 * Name that stands for a missing frame: for allocations without a stack, or for the
 * caller of the outermost function.
 */
#define PROFILE_NO_STACK "[no stack]"

#define FUNCTION_NONE UINT32_MAX

/* A source line of a function, taken from the stack with the largest amount. */
struct source_line {
	/* path of the source file as recorded in the profile; NULL: unknown */
	const char *file;
	uint32_t line; /* line number; 0: unknown */
	/* true if other stacks of the function, or of the tree node, have other lines */
	bool has_others;
	/* largest amount so far, from whose stack the line was taken */
	uint64_t max;
};

struct function_caller {
	/* index of the caller's name; FUNCTION_NONE: there is no caller */
	uint32_t caller;
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct function_sums {
	uint32_t name;
	/* path of the function's module; NULL: unknown, or several modules */
	const char *module;
	/* path of the function's source file; NULL: unknown, or several files */
	const char *file;
	/* source line of the largest allocation or call in the function */
	struct source_line source;
	uint64_t self[PROFILE_METRIC_COUNT_];
	/* amounts of the function including its callees; recursive calls count once */
	uint64_t total[PROFILE_METRIC_COUNT_];
	/* callers of the function, whose totals add up to the function's total */
	size_t first_caller, caller_count;
};

struct function_list {
	/*
	 * all functions, sorted by their own amount of the metric, then by their total,
	 * in descending order
	 */
	struct function_sums *functions;
	size_t count;
	/*
	 * callers grouped by called function, sorted by amount in each group,
	 * largest first
	 */
	struct function_caller *callers;
	size_t caller_count;
};

void function_list_init(struct function_list *list, const struct profile *profile,
			const struct function_names *names, enum profile_metric metric);
void function_list_release(struct function_list *list);

/*
 * A node of a call tree. The total of a node is its own amount plus the totals of its
 * children. Children below the minimum amount or beyond the maximum number are cut and
 * replaced by one node with their sum, so totals still add up. Node 0 is the root,
 * which has no name.
 */
struct call_node {
	/*
	 * index of the function's name; FUNCTION_NONE: the root, or a sum of cut children
	 */
	uint32_t name;
	uint32_t parent;
	/* children sorted by amount, largest first; a sum of cut children comes last */
	uint32_t first_child, child_count;
	/* number of functions that were cut if the node is their sum; otherwise 0 */
	uint32_t cut_count;
	uint32_t depth;
	struct source_line source; /* source line of the node's function */
	uint64_t self[PROFILE_METRIC_COUNT_];
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct call_tree {
	/* nodes of the tree, each before its children */
	struct call_node *nodes;
	size_t count, capacity;
};

struct call_tree_options {
	/* metric by which children are sorted and limited */
	enum profile_metric metric;
	/*
	 * true for an inverted tree, where the allocating functions are at the top and
	 * the children of a node are its callers
	 */
	bool is_inverted;
	/* true to sort children by name; not allowed if nodes may be cut */
	bool is_by_name;
	/* cut nodes whose amount of the metric is below this minimum */
	uint64_t min;
	size_t top; /* maximum number of children per node; 0: no limit */
};

void call_tree_init(struct call_tree *tree, const struct profile *profile,
		    const struct function_names *names,
		    const struct call_tree_options *options);
/* Return the next node in preorder, or 0 after the last node. */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node);
void call_tree_release(struct call_tree *tree);

#endif
