/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "render/profile/page.h"

#define BEFORE_STROKES (SHARE_WIDTH + 1 + AMOUNT_WIDTH + 2)
/* Maximum number of lines of the call tree, as a multiple of --top. */
#define LINES_PER_TOP 6

/*
 * The four strings with which the lines of the call tree are drawn. Each line begins with
 * one string per indentation level of its node.
 */
struct strokes {
	const char *passing, *last_passed, *child, *last_child;
};

static const struct strokes utf8_strokes = { "│ ", "  ", "├ ", "└ " };
static const struct strokes ascii_strokes = { "| ", "  ", "+ ", "` " };

struct drawing {
	struct strbuf *out;
	const struct profile_report *report;
	const struct function_names *names;
	const struct call_tree *tree;
	const struct strokes *strokes;
	struct branch {
		/*
		 * True if the node is drawn below its parent without further indentation.
		 * The node is then the only visible child, and its parent is not the root
		 * and allocates nothing itself.
		 */
		bool is_chained;
		bool is_last;
		/* this node or, if it is chained, its nearest ancestor that is not */
		uint32_t stem;
		/*
		 * indentation level: 0 for the children of the root; a chained node has
		 * the level of its parent, and any other node is one level deeper
		 */
		uint32_t level;
	} * branches; /* one element for each node of the call tree */
};

/*
 * Return the number of children that are shown. Hide the last child if it is the sum of
 * omitted children and its value of the metric is 0.
 */
static uint32_t visible_count(const struct drawing *d, const struct call_node *parent)
{
	uint32_t count = parent->child_count;
	const struct call_node *last;

	if (count == 0)
		return 0;
	last = &d->tree->nodes[parent->first_child + count - 1];
	return last->cut_count > 0 && last->total[d->report->metric] == 0 ? count - 1
									  : count;
}

static void place(struct drawing *d, uint32_t number)
{
	const struct call_node *node = &d->tree->nodes[number];
	const struct call_node *parent = &d->tree->nodes[node->parent];
	const struct branch *above = &d->branches[node->parent];
	uint32_t count = visible_count(d, parent);
	struct branch *own = &d->branches[number];

	own->is_last = number + 1 == parent->first_child + count;
	own->is_chained = node->parent > 0 && count == 1 &&
			  parent->self[d->report->metric] == 0;
	own->stem = own->is_chained ? above->stem : number;
	own->level = above->level + (node->parent > 0 && !own->is_chained);
}

/*
 * Append the lines that connect a node with its ancestors, and return their width
 * in columns.
 */
static size_t add_strokes(struct drawing *d, uint32_t number)
{
	const struct branch *own = &d->branches[number];
	uint32_t count = own->level, width = (uint32_t)d->report->options.max_width;
	const char **marks;

	if (width > 0 && 2 * count + BEFORE_STROKES + NAME_WIDTH_MIN > width)
		count = width > BEFORE_STROKES + NAME_WIDTH_MIN
				? (width - BEFORE_STROKES - NAME_WIDTH_MIN) / 2
				: 0;
	marks = xcalloc(count + 1, sizeof(*marks));
	/* if not all branch lines fit, draw those of the innermost levels */
	for (uint32_t i = own->stem, left = count; left > 0; left--) {
		const struct branch *branch = &d->branches[i];

		if (i == number)
			marks[left - 1] = branch->is_last ? d->strokes->last_child
							  : d->strokes->child;
		else
			marks[left - 1] = branch->is_last ? d->strokes->last_passed
							  : d->strokes->passing;
		i = d->branches[d->tree->nodes[i].parent].stem;
	}
	for (uint32_t i = 0; i < count; i++)
		strbuf_add_text(d->out, marks[i]);
	free(marks);
	return 2 * count;
}

/*
 * Return the width left for a name after `used` columns, or 0 if the width is
 * not limited.
 */
static size_t name_width(const struct drawing *d, size_t used)
{
	size_t max = (size_t)d->report->options.max_width;

	if (max == 0)
		return 0;
	return max > used + NAME_WIDTH_MIN ? max - used : NAME_WIDTH_MIN;
}

/*
 * Follow a chain of only children with the same function name, as in a recursion. Return
 * the last of these nodes, and set *ret_count to their number.
 */
static uint32_t skip_recursion(struct drawing *d, uint32_t number, uint32_t *ret_count)
{
	const struct call_node *nodes = d->tree->nodes;

	*ret_count = 1;
	for (;;) {
		uint32_t next = nodes[number].first_child;

		if (nodes[number].child_count == 0 ||
		    nodes[next].name != nodes[number].name)
			return number;
		place(d, next);
		if (!d->branches[next].is_chained)
			return number;
		number = next;
		(*ret_count)++;
	}
}

static void add_line(struct drawing *d, uint32_t number, uint32_t count)
{
	const struct profile_report *report = d->report;
	const struct call_node *node = &d->tree->nodes[number];
	char times[24] = "";
	size_t used;

	if (d->branches[number].is_chained) {
		strbuf_add_repeat(d->out, " ", SHARE_WIDTH + 1 + AMOUNT_WIDTH);
	} else {
		profile_add_share(d->out, node->total[report->metric],
				  d->tree->nodes[0].total[report->metric]);
		strbuf_add_char(d->out, ' ');
		profile_add_amount(d->out, report, report->metric,
				   node->total[report->metric], AMOUNT_WIDTH);
	}
	strbuf_add_text(d->out, "  ");
	used = BEFORE_STROKES + add_strokes(d, number);
	if (count > 1)
		used += (size_t)snprintf(times, sizeof(times), " (%u times)", count);
	if (node->cut_count > 0)
		strbuf_addf(d->out, "(%u more)", node->cut_count);
	else
		profile_add_code(d->out, d->names->names[node->name], &node->source,
				 name_width(d, used), report->options.ascii);
	strbuf_add_text(d->out, times);
	strbuf_add_char(d->out, '\n');
}

/*
 * Append a line for the allocations whose stack is unknown, so that the amounts in the
 * tree add up to the total.
 */
static void add_no_stack(struct drawing *d)
{
	enum profile_metric metric = d->report->metric;
	const struct call_node *all = &d->tree->nodes[0];

	profile_add_share(d->out, all->self[metric], all->total[metric]);
	strbuf_add_char(d->out, ' ');
	profile_add_amount(d->out, d->report, metric, all->self[metric], AMOUNT_WIDTH);
	strbuf_add_text(d->out, "  " PROFILE_NO_STACK "\n");
}

/* Draw the first `max` lines of the call tree. Return the total number of its lines. */
static size_t add_lines(struct drawing *d, size_t max)
{
	uint32_t i = call_tree_next(d->tree, 0);
	size_t lines = 0;

	while (i > 0) {
		uint32_t first = i, count;

		place(d, i);
		i = skip_recursion(d, i, &count);
		if (d->tree->nodes[first].total[d->report->metric] > 0 && lines++ < max)
			add_line(d, first, count);
		i = call_tree_next(d->tree, i);
	}
	if (d->tree->nodes[0].self[d->report->metric] > 0 && lines++ < max)
		add_no_stack(d);
	return lines;
}

static size_t draw(struct drawing *d, size_t max)
{
	size_t begin = d->out->length, lines;

	d->branches = xcalloc(d->tree->count, sizeof(*d->branches));
	lines = add_lines(d, max);
	if (max < SIZE_MAX && lines > max)
		strbuf_addf(d->out, "and %zu more line%s (--top N)\n", lines - max,
			    lines - max == 1 ? "" : "s");
	free(d->branches);
	if (max == 0)
		strbuf_truncate(d->out, begin);
	return lines;
}

void profile_add_tree(struct strbuf *out, const struct profile_report *report,
		      const struct function_names *names, bool is_inverted)
{
	struct call_tree tree;
	struct drawing d = {
		.out = out,
		.report = report,
		.names = names,
		.tree = &tree,
		.strokes = report->options.ascii ? &ascii_strokes : &utf8_strokes,
	};
	struct call_tree_options options = {
		.metric = report->metric,
		.is_inverted = is_inverted,
		.top = report->top,
	};
	size_t max = report->top > 0 ? report->top * LINES_PER_TOP : SIZE_MAX;
	unsigned int min = report->min;
	uint64_t sums[PROFILE_METRIC_COUNT_];

	profile_sum(report->profile, sums);
	for (;;) {
		options.min = profile_share(sums[report->metric], min);
		call_tree_init(&tree, report->profile, names, &options);
		/*
		 * to shorten a long tree, omit branches with small amounts rather than
		 * cutting off the end of the tree
		 */
		if (report->is_min_given || min > PROFILE_MIN_UNIT / 4 ||
		    draw(&d, 0) <= max)
			break;
		call_tree_release(&tree);
		min = min > 0 ? 2 * min : 1;
	}
	draw(&d, max);
	call_tree_release(&tree);
}
