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

/*
 * Append a name, made printable: the page must not show characters
 * that move or hide text.
 */
static void add_shown(struct strbuf *out, const char *text)
{
	_cleanup_strbuf_ struct strbuf shown = STRBUF_INIT;

	text_add_printable(&shown, text, strlen(text), false);
	html_add_json_text(out, strbuf_text(&shown));
}

static void add_comma(struct strbuf *out, size_t number)
{
	if (number > 0)
		strbuf_add_char(out, ',');
}

static void add_metrics(struct strbuf *out, unsigned int known, enum profile_metric first)
{
	size_t count = 0;

	strbuf_addf(out, "\"first\":\"%s\",\n\"metrics\":[", profile_metrics[first].name);
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		if (!(known & 1U << m))
			continue;
		add_comma(out, count++);
		strbuf_addf(out, "{\"name\":\"%s\",\"what\":\"%s\",\"bytes\":%s}",
			    profile_metrics[m].name, profile_metrics[m].what,
			    profile_metrics[m].is_bytes ? "true" : "false");
	}
	strbuf_add_text(out, "],\n");
}

static void add_colours(struct strbuf *out)
{
	strbuf_addf(out, "\"nameless\":%d,\n\"kind_names\":[", FLAME_NAMELESS);
	for (int k = 0; k < FLAME_KIND_COUNT_; k++)
		strbuf_addf(out, "%s\"%s\"", k > 0 ? "," : "", flame_kind_names[k]);
	strbuf_add_text(out, "],\n\"kind_colours\":[");
	for (int k = 0; k < FLAME_KIND_COUNT_; k++) {
		const struct flame_colour *c = flame_kind_colours[k];

		add_comma(out, (size_t)k);
		strbuf_addf(out, "[[%u,%u,%u],[%u,%u,%u]]", c[0].red, c[0].green,
			    c[0].blue, c[1].red, c[1].green, c[1].blue);
	}
	strbuf_add_text(out, "],\n\"change_colours\":[");
	for (int i = 0; i < FLAME_CHANGE_COUNT_; i++) {
		const struct flame_colour *c = &flame_change_colours[i];

		add_comma(out, (size_t)i);
		strbuf_addf(out, "[%u,%u,%u]", c->red, c->green, c->blue);
	}
	strbuf_add_text(out, "],\n");
}

/* Append a rule in the one-line form that the parser reads. */
static void add_rule(struct strbuf *out, const struct transform_rule *rule)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (rule->kind != TRANSFORM_SET)
		strbuf_addf(&line, "%s ", transform_kind_names[rule->kind]);
	strbuf_add_text(&line, rule->pattern);
	if (rule->text)
		strbuf_addf(&line, " => %s", rule->text);
	html_add_json_rule(out, line.text);
}

static void add_rules(struct strbuf *out, const struct transform_list *list)
{
	strbuf_add_char(out, '[');
	for (size_t i = 0; list && i < list->count; i++) {
		add_comma(out, i);
		add_rule(out, &list->rules[i]);
	}
	strbuf_add_char(out, ']');
}

static void add_sets(struct strbuf *out, const struct flame_page *page)
{
	strbuf_add_text(out, "\"rules\":");
	add_rules(out, page->rules);
	strbuf_add_text(out, ",\n\"sets\":[");
	for (size_t i = 0; page->sets && i < page->sets->count; i++) {
		add_comma(out, i);
		strbuf_add_text(out, "{\"name\":");
		html_add_json_text(out, page->sets->sets[i].name);
		strbuf_add_text(out, ",\"rules\":");
		add_rules(out, &page->sets->sets[i].list);
		strbuf_add_char(out, '}');
	}
	strbuf_add_text(out, "],\n");
}

/*
 * Append two arrays: the distinct texts that get() returns, and for each name the index
 * of its text, or -1 for NULL.
 */
static void add_numbered(struct strbuf *out, const struct flame_tree *tree,
			 const char *list,
			 const char *(*get)(const struct flame_name *name))
{
	size_t count = tree->stacks.frame_count;
	long *numbers = xcalloc(count + 1, sizeof(*numbers));
	/* stores each text once, as a frame name; numbers are indexes */
	struct profile texts;

	profile_init(&texts);
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame text = { .function = get(&tree->names[i]),
						    .module = PROFILE_NO_MODULE };

		numbers[i] = text.function ? (long)profile_add_frame(&texts, &text) : -1;
	}
	strbuf_addf(out, "\"%ss\":[", list);
	for (size_t t = 0; t < texts.frame_count; t++) {
		add_comma(out, t);
		add_shown(out, texts.frames[t].function);
	}
	strbuf_addf(out, "],\n\"name_%ss\":[", list);
	for (size_t i = 0; i < count; i++) {
		add_comma(out, i);
		strbuf_addf(out, "%ld", numbers[i]);
	}
	strbuf_add_text(out, "],\n");
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

static void add_names(struct strbuf *out, const struct flame_tree *tree)
{
	strbuf_add_text(out, "\"names\":[");
	for (size_t i = 0; i < tree->stacks.frame_count; i++) {
		add_comma(out, i);
		add_shown(out, tree->stacks.frames[i].function);
	}
	strbuf_add_text(out, "],\n\"kinds\":[");
	for (size_t i = 0; i < tree->stacks.frame_count; i++) {
		add_comma(out, i);
		strbuf_add_u64(out, tree->names[i].kind);
	}
	strbuf_add_text(out, "],\n");
	add_numbered(out, tree, "module", get_module);
	add_numbered(out, tree, "file", get_file);
}

static void add_values(struct strbuf *out, const struct flame_tree *tree, int metric,
		       bool is_other)
{
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < tree->stacks.node_count; i++) {
		add_comma(out, i);
		strbuf_add_u64(out, is_other ? tree->others[i][metric]
					     : tree->stacks.nodes[i].values[metric]);
	}
	strbuf_add_char(out, ']');
}

/*
 * Append the nodes. A parent is given as its distance from the child, which
 * keeps the numbers short.
 */
static void add_stacks(struct strbuf *out, const struct flame_tree *tree)
{
	const struct profile_node *nodes = tree->stacks.nodes;
	size_t series = 0;

	strbuf_add_text(out, "\"parents\":[1");
	for (size_t i = 1; i < tree->stacks.node_count; i++)
		strbuf_addf(out, ",%zu", i - nodes[i].parent);
	strbuf_add_text(out, "],\n\"frames\":[-1");
	for (size_t i = 1; i < tree->stacks.node_count; i++)
		strbuf_addf(out, ",%" PRIu32, nodes[i].frame);
	strbuf_add_text(out, "],\n\"values\":[");
	for (int other = 0; other < (tree->others ? 2 : 1); other++)
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			if (tree->known & 1U << m) {
				add_comma(out, series++);
				add_values(out, tree, m, other == 1);
			}
	strbuf_add_text(out, "]}\n");
}

/*
 * Append the origin of the figures, so that the page can be understood on its own later.
 */
static void add_facts(struct strbuf *out, const struct profile *profile,
		      const char *label)
{
	char bytes[UNITS_TEXT_SIZE];

	if (profile->command) {
		_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;

		strbuf_addf(&what, "Command%s", label);
		html_add_what(out, what.text, profile->command);
	}
	if (profile->sample_bytes > 0)
		strbuf_addf(
			out,
			"<p class=\"what\">Estimates%s: one allocation for each %s was "
			"looked at</p>\n",
			label, units_format_bytes(profile->sample_bytes, bytes));
	if (profile->by_pointer_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">%" PRIu64
			    " allocations%s are in a stack with code that "
			    "has no unwind tables: frame pointers led through it</p>\n",
			    profile->by_pointer_count, label);
	if (profile->cut_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">Of %" PRIu64
			    " allocations%s the stack could not be "
			    "followed to its end: [cut]</p>\n",
			    profile->cut_count, label);
	if (profile->lost_count > 0)
		strbuf_addf(out,
			    "<p class=\"what\">%" PRIu64
			    " allocations%s are in no stack: there was "
			    "no room for them</p>\n",
			    profile->lost_count, label);
}

static void add_page(struct strbuf *out, const struct flame_tree *tree,
		     const struct flame_page *page)
{
	strbuf_add_text(out,
			"<noscript><p>The graph needs JavaScript, of this page alone; "
			"as .svg it does not.</p></noscript>\n");
	strbuf_add_text(out, page_file_text(PAGE_FLAME_BODY));
	strbuf_addf(out,
		    "<script type=\"application/json\" id=\"data\">\n{\"labels\":%s,\n",
		    tree->others ? "[\"before\",\"after\"]" : "null");
	add_metrics(out, tree->known, page->metric);
	add_colours(out);
	add_sets(out, page);
	add_names(out, tree);
	add_stacks(out, tree);
	strbuf_add_text(out, "</script>\n");
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
