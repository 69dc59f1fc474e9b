/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/flame/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Size in bytes of the buffer for a frame name made from the name of a module, such
 * as "[libz.so.1]".
 */
#define NAME_SIZE 256

const char *const flame_kind_names[FLAME_KIND_COUNT_] = {
	[FLAME_OTHER] = "unknown file", [FLAME_PROGRAM] = "the program",
	[FLAME_LIBRARY] = "libraries",	[FLAME_RUNTIME] = "language runtime or system",
	[FLAME_NAMELESS] = "unnamed",
};

/* Prefixes of the file names of language runtimes and system libraries. */
static const char *const runtimes[] = {
	"ld-linux",	"ld-musl",     "libc.",	      "libc++",	     "libc-",
	"libgcc_s",	"libm.",       "libm-",	      "libpthread",  "libstdc++",
	"libmemstate-", "libjemalloc", "libmimalloc", "libtcmalloc", "libswiftCore",
	"[vdso]",	"[vsyscall]",  "[kernel",
};

static uint64_t add_bounded(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static enum flame_kind kind_of_module(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
			return FLAME_RUNTIME;
	return strstr(name, ".so") ? FLAME_LIBRARY : FLAME_PROGRAM;
}

static struct flame_name describe(const struct profile *profile,
				  const struct profile_frame *frame)
{
	struct flame_name name = { .file = frame->file };

	if (frame->module != PROFILE_NO_MODULE)
		name.module = profile->modules[frame->module].path;
	if (!frame->function || frame->kind == FRAME_CUT)
		name.kind = FLAME_NAMELESS;
	else if (name.module)
		name.kind = kind_of_module(name.module);
	return name;
}

/*
 * Return the number of the tree's frame with the same name as the given frame. Add such a
 * frame if the tree does not contain one.
 */
static uint32_t add_name(struct flame_tree *tree, const struct profile *profile,
			 const struct profile_frame *frame)
{
	char buffer[NAME_SIZE];
	const struct profile_frame named = {
		.function = profile_frame_name(profile, frame, buffer, sizeof(buffer)),
		.module = PROFILE_NO_MODULE,
	};
	size_t known = tree->stacks.frame_count;
	uint32_t number = profile_add_frame(&tree->stacks, &named);

	if (number < known)
		return number;
	tree->names = xgrow(tree->names, &tree->name_capacity, (size_t)number + 1,
			    sizeof(*tree->names));
	tree->names[number] = describe(profile, frame);
	return number;
}

/*
 * Add all stacks of a profile to the tree. Return an array with the node of the tree for
 * each node of the profile. The caller frees the array.
 */
static uint32_t *add_stacks(struct flame_tree *tree, const struct profile *profile)
{
	uint32_t *names = xcalloc(profile->frame_count + 1, sizeof(*names));
	uint32_t *nodes = xcalloc(profile->node_count + 1, sizeof(*nodes));

	for (size_t i = 0; i < profile->frame_count; i++)
		names[i] = add_name(tree, profile, &profile->frames[i]);
	for (size_t i = 1; i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		nodes[i] = profile_add_node(&tree->stacks, nodes[node->parent],
					    names[node->frame]);
	}
	free(names);
	return nodes;
}

static void add_values(uint64_t *to, const struct profile_node *node)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		to[m] = add_bounded(to[m], node->values[m]);
}

void flame_tree_init(struct flame_tree *tree, const struct profile *a,
		     const struct profile *b)
{
	uint32_t *nodes;

	*tree = (struct flame_tree){ .known = b ? a->known & b->known : a->known };
	profile_init(&tree->stacks);
	profile_begin(&tree->stacks);
	nodes = add_stacks(tree, a);
	for (size_t i = 0; i < a->node_count; i++)
		add_values(tree->stacks.nodes[nodes[i]].values, &a->nodes[i]);
	free(nodes);
	if (!b)
		return;
	nodes = add_stacks(tree, b);
	tree->others = xcalloc(tree->stacks.node_count + 1, sizeof(*tree->others));
	for (size_t i = 0; i < b->node_count; i++)
		add_values(tree->others[nodes[i]], &b->nodes[i]);
	free(nodes);
}

void flame_tree_release(struct flame_tree *tree)
{
	profile_release(&tree->stacks);
	free(tree->others);
	free(tree->names);
	*tree = (struct flame_tree){ 0 };
}

static void set_values(const struct flame_tree *tree, enum profile_metric metric,
		       struct flame_box *boxes)
{
	size_t count = tree->stacks.node_count;

	for (size_t i = 0; i < count; i++) {
		struct flame_box *box = &boxes[i];

		box->node = (uint32_t)i;
		box->self = box->total = tree->stacks.nodes[i].values[metric];
		if (tree->others)
			box->other_self = box->other_total = tree->others[i][metric];
		box->width = box->self > box->other_self ? box->self : box->other_self;
	}
	for (size_t i = count; i-- > 1;) {
		struct flame_box *parent = &boxes[tree->stacks.nodes[i].parent];

		parent->total = add_bounded(parent->total, boxes[i].total);
		parent->other_total =
			add_bounded(parent->other_total, boxes[i].other_total);
		parent->width = add_bounded(parent->width, boxes[i].width);
	}
	for (size_t i = 1; i < count; i++)
		boxes[i].depth = boxes[tree->stacks.nodes[i].parent].depth + 1;
}

/* Sort key of a node: children of the same parent are sorted by name. */
struct place {
	uint32_t parent, node;
	const char *name;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct place *sort_nodes(const struct profile *stacks)
{
	struct place *places = xcalloc(stacks->node_count, sizeof(*places));

	for (size_t i = 1; i < stacks->node_count; i++)
		places[i] =
			(struct place){ stacks->nodes[i].parent, (uint32_t)i,
					stacks->frames[stacks->nodes[i].frame].function };
	qsort(places + 1, stacks->node_count - 1, sizeof(*places), compare_places);
	return places;
}

static int compare_boxes(const void *a, const void *b)
{
	const struct flame_box *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

size_t flame_tree_boxes(const struct flame_tree *tree, enum profile_metric metric,
			struct flame_box **ret_boxes)
{
	size_t count = tree->stacks.node_count;
	struct flame_box *boxes = xcalloc(count + 1, sizeof(*boxes));
	struct place *places;
	uint64_t end = 0;

	*ret_boxes = boxes;
	set_values(tree, metric, boxes);
	places = sort_nodes(&tree->stacks);
	/*
	 * parents have lower numbers than their children, so the left edge of the parent
	 * is already known
	 */
	for (size_t i = 1; i < count; i++) {
		struct flame_box *box = &boxes[places[i].node];

		if (i == 1 || places[i].parent != places[i - 1].parent)
			end = boxes[places[i].parent].start;
		box->start = end;
		end = add_bounded(end, box->width);
	}
	free(places);
	qsort(boxes, count, sizeof(*boxes), compare_boxes);
	return count;
}
