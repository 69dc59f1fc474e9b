/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - merge stacks by function name into the tree from which a flame graph is drawn.
 * As in folded stacks, frames with the same name are merged even if their source lines
 * differ. A sum that is too large becomes UINT64_MAX.
 */
#ifndef MS_RENDER_FLAME_TREE_H
#define MS_RENDER_FLAME_TREE_H

#include "model/profile.h"

/* The kind of a frame, which determines its range of colours. */
enum flame_kind {
	FLAME_OTHER, /* a frame whose module is unknown */
	FLAME_PROGRAM,
	FLAME_LIBRARY,
	/* libc and similar libraries, language runtimes, and kernel code */
	FLAME_RUNTIME,
	/* the function is unknown, or the stack was truncated at the frame */
	FLAME_NAMELESS,
	FLAME_KIND_COUNT_
};

/* Human-readable names of the kinds of frames. */
extern const char *const flame_kind_names[FLAME_KIND_COUNT_];

/*
 * Details of the frame with the same index in flame_tree.stacks. If several stacks
 * contain a frame of this name, the details come from the first of them.
 */
struct flame_name {
	enum flame_kind kind;
	/*
	 * paths of the module and the source file, borrowed from the source profile,
	 * or NULL
	 */
	const char *module, *file;
};

struct flame_tree {
	/* all nodes with their values; frames with the same name are merged into one */
	struct profile stacks;
	/*
	 * Values of each node in the second profile; NULL: there is only one profile. A
	 * node that occurs in only one profile has the value 0 in the other.
	 */
	uint64_t (*others)[PROFILE_METRIC_COUNT_];
	/* bit mask of the metrics that all profiles contain */
	unsigned int known;
	struct flame_name *names;
	size_t name_capacity;
};

/*
 * Build the tree of one profile, or of two profiles if b is not NULL. The profiles must
 * remain valid until flame_tree_release().
 */
void flame_tree_init(struct flame_tree *tree, const struct profile *a,
		     const struct profile *b);
void flame_tree_release(struct flame_tree *tree);

/* A node and its position in the graph, for one metric. */
struct flame_box {
	uint32_t node, depth; /* `depth` is 0 for the root, which stands for all stacks */
	/*
	 * Left edge and width of the box, in units of the metric. The children of a node
	 * are placed side by side within it, sorted by name. With two profiles, a call
	 * stack is as wide as the larger of its two amounts, so that every parent has
	 * room for its children.
	 */
	uint64_t start, width;
	/* amounts with and without the callees of the function */
	uint64_t total, self;
	/* `total` and `self` in the second profile */
	uint64_t other_total, other_self;
};

/*
 * Compute the boxes of all nodes, ordered by row and then from left to right. The first
 * box is the root. Return the number of boxes. The caller frees *ret_boxes.
 */
size_t flame_tree_boxes(const struct flame_tree *tree, enum profile_metric metric,
			struct flame_box **ret_boxes);

#endif
