/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/group_page.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "render/process/growth_text.h"

static int amount_width(const struct group_page *p)
{
	return p->view->exact_bytes ? 15 : 9;
}

static void add_path(struct pen *pen, const char *path)
{
	pen_add_foreign_end(pen, path, strlen(path));
}

static const struct {
	const char *heading;
	int width;
	int min_width; /* minimum screen width for the column */
	size_t offset;
	bool is_count;
} level_columns[] = {
	{ "LIMIT", 9, 0, offsetof(struct cgroup_level, limit_bytes), false },
	{ "USAGE", 9, 0, offsetof(struct cgroup_level, usage_bytes), false },
	{ "PEAK", 9, 72, offsetof(struct cgroup_level, peak_bytes), false },
	{ "HIGH", 9, 100, offsetof(struct cgroup_level, high_bytes), false },
	{ "SWAP", 9, 100, offsetof(struct cgroup_level, swap_bytes), false },
	{ "TOUCHED", 9, 72, offsetof(struct cgroup_level, max_count), true },
	{ "KILLS", 7, 0, offsetof(struct cgroup_level, oom_kill_count), true },
};

#define LEVEL_COLUMN_COUNT (sizeof(level_columns) / sizeof(level_columns[0]))

static int level_width(const struct group_page *p, size_t column)
{
	if (p->canvas->width < level_columns[column].min_width)
		return 0;
	return level_columns[column].is_count ? level_columns[column].width
					      : amount_width(p);
}

static int levels_width(const struct group_page *p)
{
	int width = 0;

	for (size_t i = 0; i < LEVEL_COLUMN_COUNT; i++)
		width += level_width(p, i);
	return width;
}

static void add_level_figure(const struct group_page *p, struct pen *pen, size_t column,
			     const struct cgroup_level *level)
{
	char text[UNITS_TEXT_SIZE];
	uint64_t number;

	memcpy(&number, (const char *)level + level_columns[column].offset,
	       sizeof(number));
	if (!level_columns[column].is_count) {
		pen_add_right(pen, level_width(p, column),
			      group_page_format(p, number, text));
		return;
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	pen_add_right(pen, level_width(p, column), number == COUNT_UNKNOWN ? "-" : text);
}

static void draw_level(struct group_page *p, size_t index)
{
	const struct cgroup *c = &p->group->cgroup;
	struct pen pen = group_page_line(p);
	int end = pen.end;

	pen.role = index == c->tightest ? ROLE_STRONG : ROLE_TEXT;
	pen_add(&pen, index == c->tightest ? "* " : "  ");
	pen.end = end - levels_width(p);
	add_path(&pen, c->levels[index].path);
	pen.end = end;
	pen_move_to(&pen, end - levels_width(p));
	for (size_t i = 0; i < LEVEL_COLUMN_COUNT; i++)
		if (level_width(p, i) > 0)
			add_level_figure(p, &pen, i, &c->levels[index]);
}

static struct pen draw_heading(struct group_page *p)
{
	struct area line = { p->rest.x, p->rest.y, p->rest.width, 1 };
	struct pen pen = group_page_line(p);

	canvas_fill(p->canvas, &line, ROLE_HEADING, ' ');
	pen.role = ROLE_HEADING;
	return pen;
}

/*
 * If there is no room for all levels of the hierarchy, omit levels without a limit first.
 */
void group_page_levels(struct group_page *p, size_t room)
{
	const struct cgroup *c = &p->group->cgroup;
	struct pen pen = draw_heading(p);
	size_t left = c->level_count;

	pen_add(&pen, "  GROUP");
	pen_move_to(&pen, pen.end - levels_width(p));
	for (size_t i = 0; i < LEVEL_COLUMN_COUNT; i++)
		if (level_width(p, i) > 0)
			pen_add_right(&pen, level_width(p, i), level_columns[i].heading);
	for (size_t i = 0; i < c->level_count && room > 0; i++, left--) {
		bool is_needed = i == 0 || i == c->tightest ||
				 c->levels[i].limit_bytes != CGROUP_NO_LIMIT;

		if (left > room && !is_needed)
			continue;
		draw_level(p, i);
		room--;
	}
}

enum process_column {
	COLUMN_PID,
	COLUMN_PSS,
	COLUMN_SHARE,
	COLUMN_RSS,
	COLUMN_LAZYFREE,
	COLUMN_NEED,
	COLUMN_TREND,
	COLUMN_TIME,
	PROCESS_COLUMN_COUNT_
};

static const struct {
	const char *heading;
	int width; /* width of the column; 0: the default width of an amount */
	int min_width;
} process_columns_shown[PROCESS_COLUMN_COUNT_] = {
	[COLUMN_PID] = { "PID", 8, 0 },
	[COLUMN_PSS] = { "PSS", 0, 0 },
	[COLUMN_SHARE] = { "SHARE", 8, 0 },
	[COLUMN_RSS] = { "RSS", 0, 100 },
	[COLUMN_LAZYFREE] = { "LAZYFREE", 0, 100 },
	[COLUMN_NEED] = { "NEED", 0, 60 },
	[COLUMN_TREND] = { "TREND", 12, 60 },
	[COLUMN_TIME] = { "LIMIT IN", 10, 76 },
};

static int column_width(const struct group_page *p, enum process_column column)
{
	if (p->canvas->width < process_columns_shown[column].min_width)
		return 0;
	return process_columns_shown[column].width > 0
		       ? process_columns_shown[column].width
		       : amount_width(p);
}

static void format_process(const struct group_page *p, const struct usage *u,
			   enum process_column column, struct strbuf *out)
{
	const struct growth *growth = data_group_growth_of(p->group, &u->process);
	unsigned int share =
		units_per_mille(u->total.bytes[SMAPS_PSS], p->figures->usage_bytes);
	char text[UNITS_TEXT_SIZE];

	switch ((int)column) {
	case COLUMN_PID: strbuf_addf(out, "%d", u->process.pid); break;
	case COLUMN_SHARE:
		if (bytes_known(u->total.bytes[SMAPS_PSS]))
			strbuf_addf(out, "%u.%u%%", share / 10, share % 10);
		else
			strbuf_add_char(out, '-');
		break;
	case COLUMN_TREND: growth_text_add_short(out, growth); break;
	case COLUMN_TIME:
		growth_text_add_time(out, growth, data_group_limit_of(p->group, u));
		break;
	default:
		strbuf_add_text(out,
				group_page_format(
					p,
					column == COLUMN_PSS   ? u->total.bytes[SMAPS_PSS]
					: column == COLUMN_RSS ? u->total.bytes[SMAPS_RSS]
					: column == COLUMN_NEED
						? usage_need_bytes(u)
						: u->state_bytes[STATE_LAZYFREE],
					text));
	}
}

static void draw_process(struct group_page *p, const struct usage *u, bool is_chosen)
{
	struct area line = { p->rest.x, p->rest.y, p->rest.width, 1 };
	struct pen pen = group_page_line(p);

	pen.role = is_chosen ? ROLE_SELECTED : u->error ? ROLE_DIM : ROLE_TEXT;
	canvas_fill(p->canvas, &line, pen.role, ' ');
	if (is_chosen)
		canvas_put(p->canvas, line.x, line.y, pen.role, '>');
	for (enum process_column i = 0; i < PROCESS_COLUMN_COUNT_; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (column_width(p, i) == 0)
			continue;
		format_process(p, u, i, &text);
		pen_add_right(&pen, column_width(p, i), text.text);
	}
	pen_add(&pen, "  ");
	pen_add_foreign(&pen, u->process.comm, strlen(u->process.comm));
}

void group_page_processes(struct group_page *p)
{
	struct group_view *v = p->view;
	struct pen pen = draw_heading(p);
	int room = p->rest.height;

	for (enum process_column i = 0; i < PROCESS_COLUMN_COUNT_; i++)
		if (column_width(p, i) > 0)
			pen_add_right(&pen, column_width(p, i),
				      process_columns_shown[i].heading);
	pen_add(&pen, "  COMM");
	if ((size_t)room > v->count + GROUP_GRAPH_HEIGHT_MIN + 1)
		room = (int)v->count;
	list_fit(&v->list, v->count, room);
	v->first_y = p->rest.y;
	for (size_t i = v->list.top; i < v->count && i < v->list.top + v->list.page; i++)
		draw_process(p, v->order[i], i == v->list.cursor);
}
