/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - summarise a profile by function name: how much each function allocates, itself
 * and including its callees; its callers; and the call tree.
 *
 * Names are those of profile_frame_name(). Stacks that differ only
 * in lines or addresses are merged.
 */
#ifndef MS_CLASSIFY_PROFILE_TREE_H
#define MS_CLASSIFY_PROFILE_TREE_H

#include "classify/profile/function_names.h"

/*
 * Name that replaces a missing frame: for allocations without a stack, and for
 * the caller of the outermost function.
 */
#define PROFILE_NO_STACK "[no stack]"

#define FUNCTION_NONE UINT32_MAX

/* A source line of a function, taken from the stack with the largest amount. */
struct source_line {
	const char *file; /* path of the source file as in the profile; NULL: unknown */
	uint32_t line;	  /* line number; 0: unknown */
	bool has_others;  /* other stacks of the function have other lines */
	uint64_t max;	  /* amount of the metric in the stack with the largest amount */
};

struct function_caller {
	uint32_t caller; /* number of the caller's name; FUNCTION_NONE: no caller */
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct function_sums {
	uint32_t name;
	/* path of the module; NULL: unknown, or several modules */
	const char *module;
	/* path of the source file; NULL: unknown, or several files */
	const char *file;
	/* source line of the function's largest allocation or call */
	struct source_line source;
	uint64_t self[PROFILE_METRIC_COUNT_];
	/* Amounts including callees. Recursive calls count once. */
	uint64_t total[PROFILE_METRIC_COUNT_];
	/* the callers, whose totals add up to the function's total */
	size_t first_caller, caller_count;
};

struct function_list {
	/*
	 * All functions, sorted by self and then by total of the
	 * metric, in descending order.
	 */
	struct function_sums *functions;
	size_t count;
	/*
	 * callers, grouped by function, and sorted by amount,
	 * largest first, within a group
	 */
	struct function_caller *callers;
	size_t caller_count;
};

void function_list_init(struct function_list *list, const struct profile *profile,
			const struct function_names *names, enum profile_metric metric);
void function_list_release(struct function_list *list);

/*
 * A node of a call tree. The total of a node is its self plus the totals of its
 * children. This also holds if children were cut, because a node that is not a function
 * sums them up. Node 0 is the root, which has no name.
 */
struct call_node {
	uint32_t name; /* FUNCTION_NONE: node 0, or a sum of cut nodes */
	uint32_t parent;
	/* children are sorted, largest first; a sum of cut nodes comes last */
	uint32_t first_child, child_count;
	/* number of functions, if the node is a sum of cut nodes; else 0 */
	uint32_t cut_count;
	uint32_t depth;
	struct source_line source; /* source line of the node's function */
	uint64_t self[PROFILE_METRIC_COUNT_];
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct call_tree {
	struct call_node *nodes; /* parents precede their children */
	size_t count, capacity;
};

struct call_tree_options {
	enum profile_metric metric; /* metric by which children are sorted and cut */
	/*
	 * Build an inverted tree: children are callers, and the
	 * allocating functions are at the top.
	 */
	bool is_inverted;
	/* sort children by name, not by amount; requires that no nodes are cut */
	bool is_by_name;
	uint64_t min; /* minimum amount of the metric: nodes with less are cut */
	size_t top;   /* maximum number of children per node; 0: no limit */
};

void call_tree_init(struct call_tree *tree, const struct profile *profile,
		    const struct function_names *names,
		    const struct call_tree_options *options);
/* Return the next node in preorder, or 0 after the last node. */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node);
void call_tree_release(struct call_tree *tree);

#endif
