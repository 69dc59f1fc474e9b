/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct node {
	const void *row;
	int pid, ppid;
	struct node *parent, *child, *last_child, *next;
	bool is_placed;
};

static int compare_pids(const void *a, const void *b)
{
	return (*(struct node *const *)a)->pid - (*(struct node *const *)b)->pid;
}

static int compare_to_pid(const void *key, const void *node)
{
	return *(const int *)key - (*(struct node *const *)node)->pid;
}

static void add_child(struct node *parent, struct node *child)
{
	child->parent = parent;
	if (parent->last_child)
		parent->last_child->next = child;
	else
		parent->child = child;
	parent->last_child = child;
}

static void link_nodes(struct node *nodes, size_t count)
{
	struct node **by_pid = xcalloc(count, sizeof(*by_pid));

	for (size_t i = 0; i < count; i++)
		by_pid[i] = &nodes[i];
	qsort(by_pid, count, sizeof(*by_pid), compare_pids);
	for (size_t i = 0; i < count; i++) {
		struct node **parent = bsearch(&nodes[i].ppid, by_pid, count,
					       sizeof(*by_pid), compare_to_pid);

		if (parent && *parent != &nodes[i])
			add_child(*parent, &nodes[i]);
	}
	free(by_pid);
}

/*
 * Return the first node that is not yet in the tree, starting with n and continuing with
 * its later siblings. Return NULL if all of them are in the tree.
 */
static struct node *next_free(struct node *n)
{
	while (n && n->is_placed)
		n = n->next;
	return n;
}

static struct tree_place place_of(const struct node *n, const struct tree_place *parent)
{
	struct tree_place place = *parent;

	if (place.depth + 1 < TREE_DEPTH_MAX)
		place.depth++;
	place.more_below &= ~(UINT32_C(1) << place.depth);
	if (n->next)
		place.more_below |= UINT32_C(1) << place.depth;
	return place;
}

struct walk {
	const void **rows;
	struct tree_place *places;
	size_t count;
};

static void put(struct walk *w, struct node *n, struct tree_place place)
{
	n->is_placed = true;
	w->rows[w->count] = n->row;
	w->places[w->count++] = place;
}

/*
 * Add the root and all nodes below it to the tree, without recursion, because the tree of
 * a capture may be arbitrarily deep.
 */
static void put_tree(struct walk *w, struct node *root)
{
	struct tree_place stack[TREE_DEPTH_MAX] = { { 0 } };
	struct node *n = root;
	unsigned int depth = 0;

	put(w, root, stack[0]);
	for (;;) {
		struct node *next = next_free(n->child);

		depth += next != NULL;
		while (!next && n != root) {
			next = next_free(n->next);
			n = n->parent;
			depth -= next == NULL;
		}
		if (!next)
			return;
		n = next;
		if (depth < TREE_DEPTH_MAX)
			stack[depth] = place_of(n, &stack[depth - 1]);
		put(w, n, stack[depth < TREE_DEPTH_MAX ? depth : TREE_DEPTH_MAX - 1]);
	}
}

void tree_order(const void **rows, size_t count, struct tree_place *ret_places)
{
	struct node *nodes = xcalloc(count, sizeof(*nodes));
	struct walk walk = { rows, ret_places, 0 };

	for (size_t i = 0; i < count; i++) {
		const struct process *p =
			&((const struct process_row *)rows[i])->usage->process;

		nodes[i] =
			(struct node){ .row = rows[i], .pid = p->pid, .ppid = p->ppid };
	}
	link_nodes(nodes, count);
	for (size_t i = 0; i < count; i++)
		if (!nodes[i].parent)
			put_tree(&walk, &nodes[i]);
	/* the remaining processes form cycles of parent pids, so start at any process */
	for (size_t i = 0; i < count; i++)
		if (!nodes[i].is_placed)
			put_tree(&walk, &nodes[i]);
	free(nodes);
}

size_t tree_fold(const void **rows, size_t count, struct tree_place *places,
		 const struct process_set *folded)
{
	const void **hidden = xcalloc(count + 1, sizeof(*hidden));
	size_t kept = 0, hidden_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct process_row *row = rows[i];
		struct tree_place place = places[i];

		if (process_set_has(folded, &row->usage->process))
			while (i + 1 < count && places[i + 1].depth > place.depth) {
				hidden[hidden_count++] = rows[++i];
				place.hidden++;
			}
		rows[kept] = row;
		places[kept++] = place;
	}
	memcpy(rows + kept, hidden, hidden_count * sizeof(*hidden));
	free(hidden);
	return kept;
}

void tree_add_prefix(struct strbuf *out, const struct tree_place *place, bool ascii)
{
	static const char *const parts[2][4] = {
		{ "   ", "│  ", "└─ ", "├─ " },
		{ "   ", "|  ", "`- ", "|- " },
	};

	for (unsigned int d = 1; d <= place->depth; d++) {
		bool is_more = place->more_below >> d & 1;

		strbuf_add_text(out, parts[ascii][(d == place->depth ? 2 : 0) + is_more]);
	}
	if (place->hidden > 0)
		strbuf_addf(out, "[+%zu] ", place->hidden);
}
