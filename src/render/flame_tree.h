/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_tree - what a flame graph is drawn from: stacks by the names of their functions.
 *
 * Frames of one name are one, wherever they are in it, as in folded stacks. Sums stay at
 * UINT64_MAX where they do not fit.
 */
#ifndef MS_RENDER_FLAME_TREE_H
#define MS_RENDER_FLAME_TREE_H

#include "model/profile.h"

/* What a frame's colour is chosen by. */
enum flame_kind {
	FLAME_OTHER, /* its module is unknown */
	FLAME_PROGRAM,
	FLAME_LIBRARY,
	FLAME_RUNTIME, /* of the language or the system: libc and its like, the kernel's own */
	FLAME_NAMELESS, /* no function is known, or the stack is cut there */
	FLAME_KIND_COUNT_
};

/* For a person. */
extern const char *const flame_kind_names[FLAME_KIND_COUNT_];

/* Of a frame of flame_tree.stacks, by its number: as in the first stack that has it. */
struct flame_name {
	enum flame_kind kind;
	const char *module, *file; /* or NULL; the profile's that the tree is of */
};

struct flame_tree {
	struct profile stacks; /* each name once as a frame; nodes have the values */
	/*
	 * By node the values of the profile that the first one is compared with, or NULL. A node
	 * of only one of them has 0 in the other.
	 */
	uint64_t (*others)[PROFILE_METRIC_COUNT_];
	unsigned int known; /* of the metrics: in both, if there are two */
	struct flame_name *names;
	size_t name_capacity;
};

/* Of one profile, or (b not NULL) of two, which are only borrowed until the tree's release. */
void flame_tree_init(struct flame_tree *tree, const struct profile *a, const struct profile *b);
void flame_tree_release(struct flame_tree *tree);

/* Nodes with where they are drawn, in one metric. */
struct flame_box {
	uint32_t node, depth; /* depth 0: all */
	/*
	 * From left to right, in units of the metric: those of a node's children are side by side
	 * within its own, sorted by name. Of two profiles a stack is as wide as the larger of its
	 * two values: so no box is too narrow for what is in it.
	 */
	uint64_t start, width;
	uint64_t total, self;		  /* with and without what goes on from it */
	uint64_t other_total, other_self; /* in the second profile */
};

/*
 * The boxes of all nodes, row by row and from left to right, the first one node 0's. The
 * caller frees *ret_boxes. Returns how many.
 */
size_t flame_tree_boxes(const struct flame_tree *tree, enum profile_metric metric,
			struct flame_box **ret_boxes);

#endif
