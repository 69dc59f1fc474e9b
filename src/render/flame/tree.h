/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - merge stacks by function name into the tree from which a flame graph is drawn.
 *
 * Frames with the same name are merged even if their lines differ, as in folded stacks.
 * Sums that are too large become UINT64_MAX.
 */
#ifndef MS_RENDER_FLAME_TREE_H
#define MS_RENDER_FLAME_TREE_H

#include "model/profile.h"

/* The kind of a frame, which determines its range of colours. */
enum flame_kind {
	FLAME_OTHER, /* the module is unknown */
	FLAME_PROGRAM,
	FLAME_LIBRARY,
	/* language runtime or system: libc and similar libraries, kernel code */
	FLAME_RUNTIME,
	FLAME_NAMELESS, /* the function is unknown, or the stack was cut off here */
	FLAME_KIND_COUNT_
};

/* Human-readable names of the kinds of frames. */
extern const char *const flame_kind_names[FLAME_KIND_COUNT_];

/*
 * Details of a frame of flame_tree.stacks, with the same index. They come from the
 * first stack in which the name appears.
 */
struct flame_name {
	enum flame_kind kind;
	/*
	 * paths of the module and the source file; borrowed from the
	 * source profile, NULL if unknown
	 */
	const char *module, *file;
};

struct flame_tree {
	struct profile stacks; /* one frame per name; the nodes contain the values */
	/*
	 * Values of the second profile by node; NULL if there is only one profile. A
	 * node that occurs in only one profile has the value 0 in the other.
	 */
	uint64_t (*others)[PROFILE_METRIC_COUNT_];
	/* bit mask of the known metrics; with two profiles, known in both */
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
	uint32_t node, depth; /* depth 0 is the root, which includes all stacks */
	/*
	 * Left edge and width, in units of the metric. Children are placed side by side
	 * within their parent, sorted by name. With two profiles, a stack is as wide as
	 * the larger of its two values, so that every parent has room for its children.
	 */
	uint64_t start, width;
	uint64_t total, self;		  /* amounts with callees, and without callees */
	uint64_t other_total, other_self; /* total and self in the second profile */
};

/*
 * Compute the boxes of all nodes, row by row and from left to right. The first box is
 * the root. Return the number of boxes. The caller frees *ret_boxes.
 */
size_t flame_tree_boxes(const struct flame_tree *tree, enum profile_metric metric,
			struct flame_box **ret_boxes);

#endif
