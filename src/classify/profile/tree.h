/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - summarise a profile by function name: how much each function allocates
 * itself and including its callees, its callers, and the call tree.
 *
 * Names are those of profile_frame_name(). Stacks that differ only in lines
 * or addresses are merged.
 */
#ifndef MS_CLASSIFY_PROFILE_TREE_H
#define MS_CLASSIFY_PROFILE_TREE_H

#include "classify/profile/function_names.h"

/*
 * Name of the missing frame: for allocations without a stack, and for the caller of
 * the outermost function.
 */
#define PROFILE_NO_STACK "[no stack]"

#define FUNCTION_NONE UINT32_MAX

/* The source line of the largest of several stacks. */
struct source_line {
	const char *file; /* as in the profile; NULL: unknown */
	uint32_t line;	  /* 0: unknown */
	bool has_others;  /* other stacks have other lines */
	uint64_t most;	  /* the metric of the largest stack */
};

struct function_caller {
	uint32_t caller; /* number of its name; FUNCTION_NONE: no caller */
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct function_sums {
	uint32_t name;
	const char *module;	   /* module's path; NULL: unknown, or several modules */
	const char *file;	   /* source file; NULL: unknown, or several files */
	struct source_line source; /* where most of it is allocated or called */
	uint64_t self[PROFILE_METRIC_COUNT_];
	/* Including callees; recursion counts once. */
	uint64_t total[PROFILE_METRIC_COUNT_];
	size_t first_caller, caller_count; /* the callers' totals add up to this total */
};

struct function_list {
	/* By self, then by total of the metric, descending. */
	struct function_sums *functions;
	size_t count;
	struct function_caller *callers; /* per function, by the metric, descending */
	size_t caller_count;
};

void function_list_init(struct function_list *list, const struct profile *profile,
			const struct function_names *names, enum profile_metric metric);
void function_list_release(struct function_list *list);

/*
 * A call tree. A node's total is its self plus the totals of its children. Nodes that
 * were cut are summed in a node that is not a function, so this also holds for a cut
 * tree. Node 0 is the root and has no name.
 */
struct call_node {
	uint32_t name; /* FUNCTION_NONE: node 0, or a sum of cut functions */
	uint32_t parent;
	uint32_t first_child, child_count; /* largest first, the sum of cut ones last */
	uint32_t cut_count;		   /* number of functions, if it is a sum */
	uint32_t depth;
	struct source_line source; /* source of the node's function */
	uint64_t self[PROFILE_METRIC_COUNT_];
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct call_tree {
	struct call_node *nodes; /* parents before children */
	size_t count, capacity;
};

struct call_tree_options {
	enum profile_metric metric; /* used to sort and cut children */
	/* Children are callers; the roots are the allocating functions. */
	bool is_inverted;
	bool is_by_name; /* sort children by name instead; only for a tree without cuts */
	uint64_t min;	 /* nodes with less of the metric are cut */
	size_t top;	 /* maximum number of children to keep; 0: all */
};

void call_tree_init(struct call_tree *tree, const struct profile *profile,
		    const struct function_names *names,
		    const struct call_tree_options *options);
/* Return the next node in preorder, or 0 after the last. */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node);
void call_tree_release(struct call_tree *tree);

#endif
