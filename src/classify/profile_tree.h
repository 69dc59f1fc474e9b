/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_tree - what a profile's stacks say by the names of functions: how much each function
 * allocates itself and with all that it calls, who calls it, and who calls whom as a tree.
 *
 * Names are those of profile_frame_name(); stacks that differ in lines or addresses only are one.
 */
#ifndef MS_CLASSIFY_PROFILE_TREE_H
#define MS_CLASSIFY_PROFILE_TREE_H

#include "classify/function_names.h"

/* The name of what has no frame: allocations in no stack, and who calls the outermost. */
#define PROFILE_NO_STACK "[no stack]"

#define FUNCTION_NONE UINT32_MAX

/* Where in the source the largest of several stacks is. */
struct source_line {
	const char *file; /* as the profile has it; NULL: unknown */
	uint32_t line;	  /* 0: unknown */
	bool has_others;  /* other stacks are at other lines */
	uint64_t most;	  /* of the metric, in the largest stack */
};

struct function_caller {
	uint32_t caller; /* number of its name; FUNCTION_NONE: it is outermost */
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct function_sums {
	uint32_t name;
	const char *module; /* path of the file that has it; NULL: unknown, or several have */
	const char *file;   /* of its source; NULL likewise */
	struct source_line source; /* where it allocates or calls most */
	uint64_t self[PROFILE_METRIC_COUNT_];
	uint64_t total[PROFILE_METRIC_COUNT_]; /* with what it calls; recursion counts once */
	size_t first_caller, caller_count; /* their totals make this one's */
};

struct function_list {
	struct function_sums *functions; /* by self of the metric, then by total, the most first */
	size_t count;
	struct function_caller *callers; /* of each function, by the metric, the most first */
	size_t caller_count;
};

void function_list_init(struct function_list *list, const struct profile *profile,
			const struct function_names *names, enum profile_metric metric);
void function_list_release(struct function_list *list);

/*
 * A tree. A node's total is its self and the totals of its children: also where it is cut,
 * as a node that is no function has the sum of what was. Node 0 is all, and has no name.
 */
struct call_node {
	uint32_t name; /* FUNCTION_NONE: node 0, or several functions */
	uint32_t parent;
	uint32_t first_child, child_count; /* the most first, what was cut last */
	uint32_t cut_count; /* of functions, where it is several */
	uint32_t depth;
	struct source_line source; /* of the node's function */
	uint64_t self[PROFILE_METRIC_COUNT_];
	uint64_t total[PROFILE_METRIC_COUNT_];
};

struct call_tree {
	struct call_node *nodes; /* parents before children */
	size_t count, capacity;
};

struct call_tree_options {
	enum profile_metric metric; /* that children are sorted and cut by */
	bool is_inverted; /* children are callers: it begins with what allocates itself */
	bool is_by_name; /* children are sorted by name instead: of a tree of which nothing is cut */
	uint64_t min; /* of the metric: what has less is cut */
	size_t top; /* as many children are kept; 0: all */
};

void call_tree_init(struct call_tree *tree, const struct profile *profile,
		    const struct function_names *names, const struct call_tree_options *options);
/* The node behind this one, where each is followed by its children; 0 behind the last. */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node);
void call_tree_release(struct call_tree *tree);

#endif
