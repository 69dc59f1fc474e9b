/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/flame/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "render/flame/colour.h"
#include "render/flame/tree.h"
#include "render/html/html_page.h"
#include "render/html/page_files.h"

/*
 * Sizes in pixels. The SVG also contains them for its script, svg.js, which recomputes
 * the layout in a browser.
 */
#define WIDTH 1200
#define MARGIN 10
/* height of the title and, in an inverted graph, of the buttons and details */
#define HEAD 72
/* height of the buttons and details below a graph that is not inverted */
#define FOOT 48
#define ROW 17
#define TEXT_INSET 3
/* upper bound on the width of a character in the 12 px monospace font */
#define CHAR_WIDTH 7.25
#define WIDTH_SHOWN 0.1
#define ROWS_SHOWN 2000

struct picture {
	struct strbuf *out;
	struct flame_tree tree;
	struct flame_box *boxes;
	size_t box_count;
	uint64_t whole; /* width of the root box, in units of the metric */
	uint32_t depth; /* depth of the deepest box that is shown */
	size_t hidden_count;
	enum profile_metric metric;
};

static double pixels(const struct picture *p, uint64_t amount)
{
	double part = p->whole ? (double)amount / (double)p->whole : 0;

	return part * (WIDTH - 2 * MARGIN);
}

static bool is_shown(const struct picture *p, const struct flame_box *box)
{
	return box->depth == 0 ||
	       (box->depth < ROWS_SHOWN && pixels(p, box->width) >= WIDTH_SHOWN);
}

/*
 * Find the width and depth of the flame graph, and count the boxes that are too narrow to
 * show. The first box is the root.
 */
static void find_extent(struct picture *p)
{
	p->whole = p->boxes[0].width;
	for (size_t i = 0; i < p->box_count; i++) {
		if (!is_shown(p, &p->boxes[i]))
			p->hidden_count += p->boxes[i].width > 0;
		else if (p->boxes[i].depth > p->depth)
			p->depth = p->boxes[i].depth;
	}
}

static const char *name_of(const struct picture *p, const struct flame_box *box)
{
	const struct profile *stacks = &p->tree.stacks;

	return box->node == 0 ? "all"
			      : stacks->frames[stacks->nodes[box->node].frame].function;
}

/*
 * Append an amount such as "1.5M" or "12". If with_what is set, append the name of the
 * metric, too, as in "1.5M requested bytes" or "12 allocations".
 */
static void add_amount(const struct picture *p, uint64_t amount, bool with_what)
{
	const struct profile_metric_info *metric = &profile_metrics[p->metric];
	char buffer[UNITS_TEXT_SIZE];

	if (metric->is_bytes)
		strbuf_add_text(p->out, units_format_bytes(amount, buffer));
	else
		strbuf_add_u64(p->out, amount);
	if (with_what)
		strbuf_addf(p->out, " %s", metric->what);
}

static void add_share(const struct picture *p, uint64_t part, uint64_t whole)
{
	unsigned int share = units_per_mille(part, whole);

	strbuf_addf(p->out, "%u.%u%%", share / 10, share % 10);
}

static void add_figures(const struct picture *p, const struct flame_box *box)
{
	add_amount(p, box->total, true);
	strbuf_add_text(p->out, ", ");
	add_share(p, box->total, p->boxes[0].total);
	if (box->self > 0) {
		strbuf_add_text(p->out, "; itself ");
		add_amount(p, box->self, false);
	}
}

static void add_change(const struct picture *p, const struct flame_box *box)
{
	bool is_more = box->other_total > box->total;
	uint64_t change = is_more ? box->other_total - box->total
				  : box->total - box->other_total;

	add_amount(p, box->total, false);
	strbuf_add_text(p->out, " before, ");
	add_amount(p, box->other_total, false);
	strbuf_add_text(p->out, " after: ");
	if (change > 0)
		strbuf_add_char(p->out, is_more ? '+' : '-');
	add_amount(p, change, true);
	if (box->total > 0 && change > 0) {
		strbuf_add_text(p->out, is_more ? ", +" : ", -");
		add_share(p, change, box->total);
	}
}

/*
 * Return the number of columns that a character occupies in a monospace font. All
 * characters from U+1100 on count as wide, so the result does not depend on the locale.
 */
static size_t columns_of(uint32_t code_point)
{
	return code_point < 0x1100 ? 1 : 2;
}

/* Append as much of a function name as fits. A shortened name ends with dots. */
static void add_label(const struct picture *p, const char *name, double width)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t room = (size_t)((width - 2 * TEXT_INSET) / CHAR_WIDTH);
	size_t used = 0, at = 0, fits = 0;

	text_add_printable(&text, name, strlen(name), false);
	while (at < text.length && used <= room) {
		uint32_t code_point = 0;
		size_t size =
			text_utf8_next(text.text + at, text.length - at, &code_point);

		if (used + 2 <= room)
			fits = at;
		used += columns_of(code_point);
		at += size ? size : 1;
	}
	if (at < text.length || used > room) {
		strbuf_truncate(&text, fits);
		strbuf_add_text(&text, "..");
	}
	html_add_text(p->out, strbuf_text(&text));
}

static void add_box(const struct picture *p, const struct flame_box *box)
{
	struct flame_colour colour = flame_colour_of_change(box->total, box->other_total);
	double x = MARGIN + pixels(p, box->start);
	double width = pixels(p, box->width);
	uint32_t y = HEAD + (p->depth - box->depth) * ROW;
	const char *name = name_of(p, box);

	if (!p->tree.others)
		colour = flame_colour_of_name(
			box->node ? p->tree.names[p->tree.stacks.nodes[box->node].frame]
					    .kind
				  : FLAME_NAMELESS,
			name);
	strbuf_addf(p->out,
		    "<g data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64
		    "\" data-d=\"%u\"><title>",
		    box->start, box->width, box->depth);
	html_add_text(p->out, name);
	strbuf_add_char(p->out, '\n');
	if (p->tree.others)
		add_change(p, box);
	else
		add_figures(p, box);
	strbuf_addf(p->out,
		    "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		    "fill=\"#%02x%02x%02x\"/>",
		    x, y, width, ROW - 1, colour.red, colour.green, colour.blue);
	strbuf_addf(p->out, "<text x=\"%.2f\" y=\"%u\">", x + TEXT_INSET, y + 12);
	if (width >= 2 * TEXT_INSET + 3 * CHAR_WIDTH)
		add_label(p, name, width);
	strbuf_add_text(p->out, "</text></g>\n");
}

static void add_button(struct strbuf *out, const char *id, int x, const char *label)
{
	strbuf_addf(out,
		    "<text id=\"%s\" class=\"button\" role=\"button\" tabindex=\"0\" "
		    "x=\"%d\">%s</text>\n",
		    id, x, label);
}

static void add_head(const struct picture *p, const char *title)
{
	strbuf_add_text(p->out,
			"<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
			"<text id=\"title\" x=\"10\" y=\"24\">");
	html_add_text(p->out, title);
	strbuf_add_text(p->out, ": ");
	html_add_text(p->out, profile_metrics[p->metric].what);
	if (p->tree.others)
		strbuf_add_text(p->out, ", red: more, blue: less");
	if (p->hidden_count > 0)
		strbuf_addf(p->out, " (%zu too narrow to show)", p->hidden_count);
	strbuf_add_text(p->out, "</text>\n");
	add_button(p->out, "reset", 10, "Reset");
	add_button(p->out, "invert", 70, "Invert");
	add_button(p->out, "search", 138, "Search");
	strbuf_add_text(p->out, "<text id=\"matched\" x=\"206\"></text>\n");
}

static void add_measures(const struct picture *p)
{
	strbuf_addf(p->out, " data-rows=\"%u\" data-measures=\"%d %d %d %d %d %.2f\"",
		    p->depth + 1, MARGIN, HEAD, FOOT, ROW, TEXT_INSET, CHAR_WIDTH);
}

static void add_picture(struct picture *p, const char *title)
{
	uint32_t height;

	p->box_count = flame_tree_boxes(&p->tree, p->metric, &p->boxes);
	find_extent(p);
	height = HEAD + (p->depth + 1) * ROW + FOOT;
	strbuf_addf(
		p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\"",
		WIDTH, height, WIDTH, height);
	add_measures(p);
	strbuf_add_text(p->out, ">\n<title>");
	html_add_text(p->out, title);
	strbuf_add_text(p->out, "</title>\n<style><![CDATA[\n");
	strbuf_add_text(p->out, page_file_text(PAGE_FLAME_SVG_STYLE));
	strbuf_add_text(p->out, "]]></style>\n");
	add_head(p, title);
	strbuf_add_text(p->out, "<g id=\"boxes\">\n");
	for (size_t i = 0; i < p->box_count; i++)
		if (is_shown(p, &p->boxes[i]))
			add_box(p, &p->boxes[i]);
	strbuf_add_text(
		p->out,
		"</g>\n<text id=\"details\" x=\"10\"></text>\n<script><![CDATA[\n");
	strbuf_add_text(p->out, page_file_text(PAGE_FLAME_SVG_SCRIPT));
	strbuf_add_text(p->out, "]]></script>\n</svg>\n");
	free(p->boxes);
}

void flame_svg_add(struct strbuf *out, const struct profile *profile,
		   enum profile_metric metric, const char *title)
{
	struct picture picture = { .out = out, .metric = metric };

	flame_tree_init(&picture.tree, profile, NULL);
	add_picture(&picture, title);
	flame_tree_release(&picture.tree);
}

void flame_svg_add_diff(struct strbuf *out, const struct profile *before,
			const struct profile *after, enum profile_metric metric,
			const char *title)
{
	struct picture picture = { .out = out, .metric = metric };

	flame_tree_init(&picture.tree, before, after);
	add_picture(&picture, title);
	flame_tree_release(&picture.tree);
}
