/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/process.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/diagnose.h"
#include "render/process/growth_text.h"
#include "render/process/heap_rows.h"
#include "render/process/use_rows.h"
#include "ui/data/data.h"
#include "ui/data/replay.h"
#include "ui/screen/meter.h"
#include "ui/view/process_matrix.h"
#include "ui/view/process_panels.h"

#define SENTENCES_MAX 4

void process_init(struct process_view *v, const struct data *data, bool exact_bytes)
{
	*v = (struct process_view){ .data = data, .exact_bytes = exact_bytes };
	v->chosen = (enum part)(PART_OWNER + OWNER_ANON);
}

bool process_shows(const struct process_view *v, enum part part)
{
	return part == PART_RSS || (part >= PART_PSS && part <= PART_UNBACKED) ||
	       v->seen & UINT32_C(1) << part;
}

/*
 * Minimum growth of an owner that moves the cursor to the owner. Smaller changes are
 * noise, and would make the cursor jump.
 */
#define NOTABLE_GROWTH_BYTES MIB
/* Growth is notable only if it exceeds 1/NOTABLE_GROWTH_SHARE of Rss. */
#define NOTABLE_GROWTH_SHARE 100

/*
 * Return the owner with the largest growth since the process was opened if its growth
 * is notable; otherwise the owner with the most memory. Return OWNER_COUNT_ if no
 * amount is known.
 */
static enum owner find_main_owner(const struct process_view *v, const struct usage *u)
{
	uint64_t rss_bytes = u->total.bytes[SMAPS_RSS], max_bytes = 0;
	enum owner largest = OWNER_COUNT_, fastest = OWNER_COUNT_;
	int64_t max_growth = (int64_t)NOTABLE_GROWTH_BYTES;

	if (bytes_known(rss_bytes) &&
	    (int64_t)(rss_bytes / NOTABLE_GROWTH_SHARE) > max_growth)
		max_growth = (int64_t)(rss_bytes / NOTABLE_GROWTH_SHARE);
	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		enum part part = (enum part)(PART_OWNER + o);
		uint64_t bytes = part_get(u, part);
		int64_t growth = 0;

		if (bytes_known(bytes) && bytes > max_bytes) {
			max_bytes = bytes;
			largest = (enum owner)o;
		}
		if (history_get_change(&v->data->history, part, &growth) &&
		    growth >= max_growth) {
			max_growth = growth;
			fastest = (enum owner)o;
		}
	}
	return fastest != OWNER_COUNT_ ? fastest : largest;
}

/* Move the cursor to the most important owner, unless the user has already moved it. */
static void choose_main_owner(struct process_view *v, const struct usage *u)
{
	enum owner owner = OWNER_COUNT_;

	if (u && !v->has_chosen)
		owner = find_main_owner(v, u);
	if (owner != OWNER_COUNT_)
		v->chosen = (enum part)(PART_OWNER + (int)owner);
}

void process_update(struct process_view *v)
{
	const struct usage *u = data_detail(v->data);

	if (v->seen_pid != v->data->detail_pid) {
		v->seen_pid = v->data->detail_pid;
		v->seen = 0;
		v->has_chosen = false;
	}
	for (unsigned int part = 0; u && part < PART_NAMED_COUNT_; part++) {
		uint64_t bytes = part_get(u, (enum part)part);

		if (bytes_known(bytes) && bytes > 0)
			v->seen |= UINT32_C(1) << part;
	}
	choose_main_owner(v, u);
	if (u && !process_shows(v, v->chosen))
		v->chosen = PART_PSS;
}

enum owner process_chosen_owner(const struct process_view *v)
{
	return v->chosen >= PART_OWNER && v->chosen < PART_STATE
		       ? (enum owner)(v->chosen - PART_OWNER)
		       : OWNER_COUNT_;
}

static void choose_part(struct process_view *v, unsigned int step)
{
	unsigned int part = v->chosen;

	do
		part = (part + step) % PART_NAMED_COUNT_;
	while (!process_shows(v, (enum part)part) && part != v->chosen);
	v->chosen = (enum part)part;
	v->has_chosen = true;
}

bool process_act(struct process_view *v, enum action action)
{
	switch ((int)action) {
	case ACTION_UP: choose_part(v, PART_NAMED_COUNT_ - 1); return true;
	case ACTION_DOWN: choose_part(v, 1); return true;
	case ACTION_CELLS: v->mode = (v->mode + 1) % CELLS_MODE_COUNT_; return true;
	case ACTION_GRAPH:
		v->graph_style = v->graph_style == GRAPH_BRAILLE ? GRAPH_BLOCK
								 : GRAPH_BRAILLE;
		return true;
	default: return false;
	}
}

/*
 * The process view while it is being drawn. Each part is drawn in the top lines of the
 * area `rest`, and removes these lines from the area.
 */
struct page {
	const struct process_view *view;
	const struct usage *usage;
	struct canvas *canvas;
	struct area rest;
	uint64_t now_ns;
};

static struct pen next_line(struct page *p)
{
	int y = p->rest.y++;

	p->rest.height--;
	return canvas_pen(p->canvas, p->rest.x + 1, y, p->rest.width - 2);
}

static void draw_head(struct page *p)
{
	const struct usage *u = p->usage;
	const struct heap_findings *f = data_heap_findings(p->view->data);
	_cleanup_strbuf_ struct strbuf heaps = STRBUF_INIT;
	struct pen pen = next_line(p);
	char age[UNITS_TEXT_SIZE];

	pen.role = ROLE_STRONG;
	pen_add_foreign(&pen, u->process.comm, strlen(u->process.comm));
	pen.role = ROLE_TEXT;
	pen_addf(&pen, " (%d), state %c, %u thread%s", u->process.pid, u->process.state,
		 u->process.thread_count, u->process.thread_count == 1 ? "" : "s");
	if (u->mapping_count != MAPPING_COUNT_UNKNOWN)
		pen_addf(&pen, ", %u mappings", u->mapping_count);
	usage_heaps_add_titles(&heaps, u, ", ");
	pen_add(&pen, strbuf_text(&heaps));
	if (f && u->heap_quality != QUALITY_UNKNOWN)
		pen_addf(&pen, ", heap %s old",
			 units_format_duration(
				 p->now_ns > f->taken_ns ? p->now_ns - f->taken_ns : 0,
				 age));
	if (u->command && u->command[0]) {
		pen = next_line(p);
		pen.role = ROLE_DIM;
		pen_add_foreign(&pen, u->command, strlen(u->command));
	}
}

/*
 * Draw a bar of memory by owner or by page state. The matrix with its names and letters
 * serves as the legend of the bar.
 */
static void draw_bar(struct page *p, const char *title, unsigned int first, size_t count)
{
	uint64_t parts[METER_PARTS_MAX];
	char letters[METER_PARTS_MAX];
	enum role roles[METER_PARTS_MAX];
	const struct meter meter = {
		parts, count, p->usage->total.bytes[SMAPS_RSS], letters, roles,
	};
	struct pen pen = next_line(p);

	for (size_t i = 0; i < count; i++) {
		parts[i] = part_get(p->usage, (enum part)(first + i));
		letters[i] = part_letter((enum part)(first + i));
		roles[i] = part_role((enum part)(first + i));
	}
	pen_addf(&pen, "%-6s", title);
	meter_draw(&meter, &pen);
}

/* Append an amount and its change, such as "Pss 1.2M (+64.0K)". */
static void format_part(const struct page *p, enum part part, struct strbuf *out)
{
	char amount[UNITS_TEXT_SIZE], change_text[UNITS_TEXT_SIZE];
	int64_t change = 0;

	strbuf_addf(out, "%s %s", part_name(part),
		    units_format_bytes(part_get(p->usage, part), amount));
	if (history_get_change(&p->view->data->history, part, &change) && change != 0)
		strbuf_addf(out, " (%s)", units_format_change(change, change_text));
}

/*
 * Draw the amounts that are not in the matrix, in at most line_max lines: first the parts
 * of Rss that overlap the matrix, then other amounts, such as Pss and swap.
 */
static void draw_parts(struct page *p, int line_max)
{
	struct pen pen = { .canvas = NULL };
	int indent = p->rest.x + 9;
	const char *title = "of Rss";

	for (unsigned int part = PART_THP; part < PART_OWNER; part++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		int width;

		if (part == PART_PSS)
			title = "beside";
		if (!process_shows(p->view, (enum part)part))
			continue;
		format_part(p, (enum part)part, &text);
		width = (int)text.length + (title ? (int)strlen(title) + 3 : 0);
		if (!pen.canvas || pen.x + width > pen.end) {
			if (p->rest.height < 1 || line_max-- < 1)
				return;
			pen = next_line(p);
			pen_add(&pen, title ? title : "");
			pen_move_to(&pen, indent);
		} else if (title) {
			pen_addf(&pen, " %s  ", title);
		}
		title = NULL;
		pen.role = part == p->view->chosen ? ROLE_SELECTED : ROLE_TEXT;
		pen_add(&pen, text.text);
		pen.role = ROLE_TEXT;
		pen_add(&pen, "  ");
	}
}

/* Draw the growth of the memory need and of live blocks if there are enough samples. */
static void draw_growth(struct page *p)
{
	const struct data *d = p->view->data;
	const struct {
		const char *name;
		const struct growth *growth;
	} lines[] = {
		{ "need", seen_growth_find((struct seen_growth *)&d->need) },
		{ "live", seen_growth_find((struct seen_growth *)&d->live) },
	};

	for (size_t i = 0; i < 2 && p->rest.height > 2; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		struct pen pen;

		if (lines[i].growth->kind == GROWTH_TOO_SHORT)
			continue;
		growth_text_add(&text, lines[i].growth,
				i == 0 ? data_group_limit_of(&d->group, p->usage)
				       : BYTES_UNKNOWN);
		pen = next_line(p);
		pen_add(&pen, lines[i].name);
		pen_move_to(&pen, p->rest.x + 9);
		pen.role = lines[i].growth->kind == GROWTH_STEADY ? ROLE_GROWN
								  : ROLE_TEXT;
		pen_add(&pen, text.text);
	}
}

/*
 * Append the sentences of the diagnosis, wrapped to the width of the page. Return the
 * number of lines.
 */
static int add_diagnosis(const struct page *p, struct strbuf *out)
{
	struct diagnosis sentences[SENTENCES_MAX];
	size_t count = diagnose(p->usage, sentences, SENTENCES_MAX);
	int lines = 0;

	for (size_t i = 0; i < count; i++) {
		strbuf_add_text(out, p->canvas->ascii ? "* " : "• ");
		text_add_wrapped(out, sentences[i].text, 2, (size_t)p->rest.width - 2);
	}
	for (size_t i = 0; i < out->length; i++)
		lines += out->text[i] == '\n';
	return lines;
}

static void draw_diagnosis(struct page *p, int lines)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *line, *rest;

	add_diagnosis(p, &text);
	rest = text.text;
	while (lines > 0 && (line = strsep(&rest, "\n")) && line[0] != '\0') {
		struct pen pen = next_line(p);

		lines--;
		pen_add(&pen, line);
		/* an ellipsis shows that the sentence continues beyond the last line */
		if (lines == 0 && rest && rest[0] == ' ')
			pen_add(&pen, p->canvas->ascii ? " ..." : " …");
	}
}

/* Return the total number of lines of the tables of heaps and of known memory uses. */
static int count_heap_lines(const struct usage *u)
{
	int heaps = usage_heaps_are_listed(u) ? (int)u->heap_count + 1 : 0;

	return heaps + (int)usage_uses_line_count(u);
}

/* Draw a table, whose first line is the heading. */
static void draw_rows(struct page *p, const struct strbuf *text)
{
	const struct area heading = { p->rest.x, p->rest.y, p->rest.width, 1 };
	enum role role = ROLE_HEADING;
	char *line, *rest;

	if (text->length == 0)
		return;
	canvas_fill(p->canvas, &heading, role, ' ');
	rest = text->text;
	while ((line = strsep(&rest, "\n")) && line[0] != '\0') {
		struct pen pen = next_line(p);

		pen.role = role;
		pen_add(&pen, line);
		role = ROLE_TEXT;
	}
}

static void draw_heaps(struct page *p)
{
	_cleanup_strbuf_ struct strbuf heaps = STRBUF_INIT, uses = STRBUF_INIT;

	if (usage_heaps_are_listed(p->usage))
		usage_heaps_add_rows(&heaps, p->usage, p->view->exact_bytes);
	usage_uses_add_rows(&uses, p->usage, p->view->exact_bytes);
	draw_rows(p, &heaps);
	draw_rows(p, &uses);
}

/*
 * Return true if blank lines fit around the matrix without displacing the diagnosis,
 * which is more important.
 */
static bool has_room_for_blank(const struct page *p)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int needed = matrix_height(p->view) + count_heap_lines(p->usage) + 3 +
		     add_diagnosis(p, &text);

	return p->rest.height > needed + GRAPH_HEIGHT_MIN;
}

static void draw_owners(struct page *p)
{
	struct pen pen;

	if (!data_is_replayed(p->view->data) || p->usage->source == SOURCE_SMAPS) {
		draw_bar(p, "owner", PART_OWNER, OWNER_COUNT_);
		return;
	}
	pen = next_line(p);
	pen_add(&pen, "owner  not in this sample: mappings are recorded only "
		      "occasionally");
}

/* Return the number of lines that the growth of the process occupies. */
static int count_growth_lines(const struct data *d)
{
	return (seen_growth_find((struct seen_growth *)&d->need)->kind !=
		GROWTH_TOO_SHORT) +
	       (seen_growth_find((struct seen_growth *)&d->live)->kind !=
		GROWTH_TOO_SHORT);
}

/*
 * Heights in lines of two parts below the matrix: the changes of the page states, and the
 * amounts that are not in the matrix, such as Pss and swap.
 */
#define CHANGE_LINES 2
#define PARTS_LINES 2
/*
 * Draw the changes and the table of heaps only if at least this many lines remain
 * for the diagnosis.
 */
#define DIAGNOSIS_LINES 2

/*
 * Draw the matrix with its changes, the table of heaps, the other amounts, the growth and
 * the diagnosis. Leave the last `kept` lines of the area free. If space is short, omit
 * the changes first, then the table of heaps. If there is not even one line for each part
 * below the matrix, also use the lines that were to be left free.
 */
static void draw_table(struct page *p, int kept)
{
	int growth = count_growth_lines(p->view->data);
	int spare = p->rest.height - matrix_height(p->view) + CHANGE_LINES - kept;
	int heaps = count_heap_lines(p->usage);
	bool has_heaps = heaps > 0 && spare >= heaps + PARTS_LINES + DIAGNOSIS_LINES;
	bool has_changes, is_tight;
	struct area matrix = p->rest;
	int lines;

	if (has_heaps)
		spare -= heaps;
	has_changes = spare >= CHANGE_LINES + PARTS_LINES + DIAGNOSIS_LINES;
	is_tight = kept > 0 && spare >= 3;
	lines = matrix_draw(p->view, p->canvas, &matrix, has_changes || !is_tight);

	p->rest.y += lines;
	p->rest.height -= lines;
	if (has_heaps)
		draw_heaps(p);
	lines = spare - growth - DIAGNOSIS_LINES;
	draw_parts(p, has_changes || !is_tight ? p->rest.height : lines > 1 ? lines : 1);
	draw_growth(p);
	lines = p->rest.height - kept;
	if (lines > 7)
		next_line(p);
	draw_diagnosis(p, lines > 2 || is_tight ? lines
			  : p->rest.height < 2	? p->rest.height
						: 2);
}

static void draw_figures(struct page *p)
{
	bool is_wide = p->rest.width >= PANEL_SCREEN_WIDTH &&
		       p->rest.height >= PANEL_SCREEN_HEIGHT;
	struct area side;

	draw_owners(p);
	draw_bar(p, "state", PART_STATE, STATE_COUNT_);
	if (is_wide || has_room_for_blank(p))
		next_line(p);
	if (is_wide) {
		side = p->rest;
		side.x += PANEL_LEFT_WIDTH;
		side.width -= PANEL_LEFT_WIDTH;
		panel_draw_graphs(p->view, p->canvas, &side);
		p->rest.width = PANEL_LEFT_WIDTH - 1;
	}
	draw_table(p, is_wide ? 0 : GRAPH_HEIGHT_MIN);
	if (p->rest.height > GRAPH_HEIGHT_MIN + 2)
		next_line(p);
	if (is_wide)
		panel_draw_mappings(p->view, p->canvas, &p->rest);
	else
		graphs_draw(p->view, p->canvas, &p->rest);
}

void process_draw(struct process_view *v, struct canvas *c, const struct area *area,
		  uint64_t now_ns)
{
	struct page page = { v, data_detail(v->data), c, *area, now_ns };

	if (!page.usage) {
		struct pen pen = next_line(&page);

		pen_addf(&pen, "process %d: %s", v->data->detail_pid,
			 !v->data->detail_has_ended ? "not read yet"
			 : data_is_replayed(v->data)
				 ? "it did not exist at that time"
				 : "it exited before it could be read");
		return;
	}
	draw_head(&page);
	if (bytes_known(page.usage->total.bytes[SMAPS_RSS]) &&
	    page.usage->total.bytes[SMAPS_RSS] > 0) {
		draw_figures(&page);
		return;
	}
	next_line(&page);
	draw_diagnosis(&page, page.rest.height);
}
