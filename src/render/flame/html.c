/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/flame/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/flame/colour.h"
#include "render/flame/tree.h"
#include "render/html/html_page.h"

/* Start a new line of the page, and begin a JSON array there. */
static void begin_line(struct json *j, const char *key)
{
	json_break_line(j);
	json_begin_array(j, key);
}

static void add_metrics(struct json *j, unsigned int known, enum profile_metric first)
{
	json_break_line(j);
	json_add_string(j, "first", profile_metrics[first].name);
	begin_line(j, "metrics");
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		if (!(known & 1U << m))
			continue;
		json_begin_object(j, NULL);
		json_add_string(j, "name", profile_metrics[m].name);
		json_add_string(j, "what", profile_metrics[m].what);
		json_add_bool(j, "bytes", profile_metrics[m].is_bytes);
		json_end_object(j);
	}
	json_end_array(j);
}

static void add_colour(struct json *j, const struct flame_colour *colour)
{
	json_begin_array(j, NULL);
	json_add_number(j, NULL, colour->red);
	json_add_number(j, NULL, colour->green);
	json_add_number(j, NULL, colour->blue);
	json_end_array(j);
}

static void add_colours(struct json *j)
{
	json_break_line(j);
	json_add_number(j, "nameless", FLAME_NAMELESS);
	begin_line(j, "kind_names");
	for (int k = 0; k < FLAME_KIND_COUNT_; k++)
		json_add_string(j, NULL, flame_kind_names[k]);
	json_end_array(j);
	begin_line(j, "kind_colours");
	for (int k = 0; k < FLAME_KIND_COUNT_; k++) {
		json_begin_array(j, NULL);
		add_colour(j, &flame_kind_colours[k][0]);
		add_colour(j, &flame_kind_colours[k][1]);
		json_end_array(j);
	}
	json_end_array(j);
	begin_line(j, "change_colours");
	for (int i = 0; i < FLAME_CHANGE_COUNT_; i++)
		add_colour(j, &flame_change_colours[i]);
	json_end_array(j);
}

/* Append a rule as one line of text, in the syntax that the rule parser accepts. */
static void add_rule(struct json *j, const struct transform_rule *rule)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (rule->kind != TRANSFORM_SET)
		strbuf_addf(&line, "%s ", transform_kind_names[rule->kind]);
	strbuf_add_text(&line, rule->pattern);
	if (rule->text)
		strbuf_addf(&line, " => %s", rule->text);
	json_add_string(j, NULL, strbuf_text(&line));
}

static void add_rules(struct json *j, const struct transform_list *list)
{
	json_begin_array(j, "rules");
	for (size_t i = 0; list && i < list->count; i++)
		add_rule(j, &list->rules[i]);
	json_end_array(j);
}

static void add_sets(struct json *j, const struct flame_page *page)
{
	json_break_line(j);
	add_rules(j, page->rules);
	begin_line(j, "sets");
	for (size_t i = 0; page->sets && i < page->sets->count; i++) {
		json_begin_object(j, NULL);
		html_add_json_text(j, "name", page->sets->sets[i].name);
		add_rules(j, &page->sets->sets[i].list);
		json_end_object(j);
	}
	json_end_array(j);
}

/*
 * Append two arrays. `list` contains the distinct strings that get() returns for the
 * names in the tree. `list_of_names` contains, for each name, the index of its string in
 * `list`, or -1 if get() returns NULL.
 */
static void add_numbered(struct json *j, const struct flame_tree *tree, const char *list,
			 const char *list_of_names,
			 const char *(*get)(const struct flame_name *name))
{
	size_t count = tree->stacks.frame_count;
	int64_t *numbers = xcalloc(count + 1, sizeof(*numbers));
	/*
	 * A temporary profile with a frame for each string. A profile stores equal frames
	 * only once, so the number of a frame is the index of its string in `list`.
	 */
	struct profile texts;

	profile_init(&texts);
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame text = { .function = get(&tree->names[i]),
						    .module = PROFILE_NO_MODULE };

		numbers[i] = text.function ? (int64_t)profile_add_frame(&texts, &text)
					   : -1;
	}
	begin_line(j, list);
	for (size_t t = 0; t < texts.frame_count; t++)
		html_add_json_text(j, NULL, texts.frames[t].function);
	json_end_array(j);
	begin_line(j, list_of_names);
	for (size_t i = 0; i < count; i++)
		json_add_signed(j, NULL, numbers[i]);
	json_end_array(j);
	free(numbers);
	profile_release(&texts);
}

static const char *get_module(const struct flame_name *name)
{
	return name->module;
}

static const char *get_file(const struct flame_name *name)
{
	return name->file;
}

static void add_names(struct json *j, const struct flame_tree *tree)
{
	begin_line(j, "names");
	for (size_t i = 0; i < tree->stacks.frame_count; i++)
		html_add_json_text(j, NULL, tree->stacks.frames[i].function);
	json_end_array(j);
	begin_line(j, "kinds");
	for (size_t i = 0; i < tree->stacks.frame_count; i++)
		json_add_number(j, NULL, tree->names[i].kind);
	json_end_array(j);
	add_numbered(j, tree, "modules", "name_modules", get_module);
	add_numbered(j, tree, "files", "name_files", get_file);
}

static void add_values(struct json *j, const struct flame_tree *tree, int metric,
		       bool is_other)
{
	json_begin_array(j, NULL);
	for (size_t i = 0; i < tree->stacks.node_count; i++)
		json_add_number(j, NULL,
				is_other ? tree->others[i][metric]
					 : tree->stacks.nodes[i].values[metric]);
	json_end_array(j);
}

/*
 * Append the nodes of the tree. A node refers to its parent by the difference of their
 * indices, because small numbers make the page shorter.
 */
static void add_stacks(struct json *j, const struct flame_tree *tree)
{
	const struct profile_node *nodes = tree->stacks.nodes;

	begin_line(j, "parents");
	json_add_number(j, NULL, 1);
	for (size_t i = 1; i < tree->stacks.node_count; i++)
		json_add_number(j, NULL, i - nodes[i].parent);
	json_end_array(j);
	begin_line(j, "frames");
	json_add_signed(j, NULL, -1);
	for (size_t i = 1; i < tree->stacks.node_count; i++)
		json_add_number(j, NULL, nodes[i].frame);
	json_end_array(j);
	begin_line(j, "values");
	for (int other = 0; other < (tree->others ? 2 : 1); other++)
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			if (tree->known & 1U << m)
				add_values(j, tree, m, other == 1);
	json_end_array(j);
}

/*
 * Append the origin of the figures: the command, and how the figures were measured
 * or estimated.
 */
static void add_facts(struct strbuf *out, const struct profile *profile,
		      const char *label)
{
	char bytes[UNITS_TEXT_SIZE];

	if (profile->command) {
		_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;

		strbuf_addf(&what, "Command%s", label);
		html_add_code_line(out, what.text, profile->command);
	}
	if (profile->sample_bytes > 0)
		strbuf_addf(out,
			    "<p class=\"what\">Estimates%s: one sample per %s "
			    "allocated</p>\n",
			    label, units_format_bytes(profile->sample_bytes, bytes));
	if (profile->by_pointer_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">%" PRIu64
			    " allocations%s have a stack with code without unwind "
			    "tables: memstate followed its frame pointers</p>\n",
			    profile->by_pointer_count, label);
	if (profile->cut_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">%" PRIu64
			    " allocations%s have an incomplete stack, which "
			    "begins with [cut]</p>\n",
			    profile->cut_count, label);
	if (profile->lost_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">%" PRIu64
			    " allocations%s have no stack: the memory for "
			    "stacks was full</p>\n",
			    profile->lost_count, label);
}

static void add_page(struct strbuf *out, const struct flame_tree *tree,
		     const struct flame_page *page)
{
	struct json j;

	strbuf_add_text(out,
			"<noscript><p>The graph requires JavaScript; a graph in an .svg "
			"file is visible without it.</p></noscript>\n");
	strbuf_add_text(out, page_file_text(PAGE_FLAME_BODY));
	j = html_begin_data(out);
	json_add_raw(&j, "labels", tree->others ? "[\"before\",\"after\"]" : "null");
	add_metrics(&j, tree->known, page->metric);
	add_colours(&j);
	add_sets(&j, page);
	add_names(&j, tree);
	add_stacks(&j, tree);
	html_end_data(&j);
}

void flame_html_add(struct strbuf *out, const struct profile *profile,
		    const struct flame_page *page)
{
	const struct html_page html = { page->title, PAGE_FLAME_STYLE,
					PAGE_FLAME_SCRIPT };
	struct flame_tree tree;

	flame_tree_init(&tree, profile, NULL);
	html_page_begin(out, &html);
	add_facts(out, profile, "");
	add_page(out, &tree, page);
	html_page_end(out, &html);
	flame_tree_release(&tree);
}

void flame_html_add_diff(struct strbuf *out, const struct profile *before,
			 const struct profile *after, const struct flame_page *page)
{
	const struct html_page html = { page->title, PAGE_FLAME_STYLE,
					PAGE_FLAME_SCRIPT };
	struct flame_tree tree;

	flame_tree_init(&tree, before, after);
	html_page_begin(out, &html);
	add_facts(out, before, " before");
	add_facts(out, after, " after");
	add_page(out, &tree, page);
	html_page_end(out, &html);
	flame_tree_release(&tree);
}
