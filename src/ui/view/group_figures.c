/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/group_page.h"

#include <stdio.h>
#include <string.h>

#include "render/process/group_head.h"
#include "render/process/growth_text.h"
#include "ui/screen/meter.h"

/*
 * The memory pressure is drawn only if the rest of the line is wider than this
 * number of columns.
 */
#define PRESSURE_WIDTH 28

struct pen group_page_line(struct group_page *p)
{
	int y = p->rest.y++;

	p->rest.height--;
	return canvas_pen(p->canvas, p->rest.x + 1, y, p->rest.width - 2);
}

const char *group_page_format(const struct group_page *p, uint64_t bytes,
			      char buf[UNITS_TEXT_SIZE])
{
	if (bytes == CGROUP_NO_LIMIT)
		return "none";
	if (!p->view->exact_bytes || !bytes_known(bytes))
		return units_format_bytes(bytes, buf);
	snprintf(buf, UNITS_TEXT_SIZE, "%llu", (unsigned long long)bytes);
	return buf;
}

uint64_t group_page_limit(const struct group_page *p)
{
	return p->figures->limit_bytes == CGROUP_NO_LIMIT ? BYTES_UNKNOWN
							  : p->figures->limit_bytes;
}

static void draw_head(struct group_page *p)
{
	const struct table_options options = { .exact_bytes = p->view->exact_bytes,
					       .ascii = p->canvas->ascii };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *rest, *line;
	bool is_first = true;

	group_head_add(&text, &p->group->cgroup, &options);
	rest = text.text;
	while ((line = strsep(&rest, "\n")) && line[0] != '\0') {
		struct pen pen = group_page_line(p);

		pen.role = is_first ? ROLE_STRONG : ROLE_TEXT;
		pen_add_foreign(&pen, line, strlen(line));
		is_first = false;
	}
}

static const struct segment {
	char letter;
	const char *name;
	enum role role;
} segments[] = {
	{ 'N', "need", ROLE_OWNER + OWNER_ANON },
	{ 'L', "lazyfree", ROLE_STATE + STATE_LAZYFREE },
	{ 'C', "cache", ROLE_OWNER + OWNER_FILE },
	{ 'S', "slab", ROLE_OWNER + OWNER_HEAP_META },
	{ '.', "free", ROLE_DIM },
};

#define SEGMENT_COUNT (sizeof(segments) / sizeof(segments[0]))

/*
 * Draw a bar of the memory usage by kind. The full width is the limit or, without a
 * limit, the total usage.
 */
static void draw_bar(struct group_page *p)
{
	const struct oom_figures *f = p->figures;
	uint64_t whole = f->limit_bytes == CGROUP_NO_LIMIT ? f->usage_bytes
							   : f->limit_bytes;
	const uint64_t parts[SEGMENT_COUNT] = { f->need_bytes, f->lazyfree_bytes,
						f->file_bytes, f->slab_reclaimable_bytes,
						bytes_sub(whole, f->usage_bytes) };
	char letters[SEGMENT_COUNT], text[UNITS_TEXT_SIZE];
	enum role roles[SEGMENT_COUNT];
	const struct meter meter = { parts, SEGMENT_COUNT, whole, letters, roles };
	struct pen pen = group_page_line(p), legend = group_page_line(p);

	for (size_t i = 0; i < SEGMENT_COUNT; i++) {
		letters[i] = segments[i].letter;
		roles[i] = segments[i].role;
		if (!bytes_known(parts[i]) ||
		    (i + 1 == SEGMENT_COUNT && f->limit_bytes == CGROUP_NO_LIMIT))
			continue;
		meter_add_letter(&legend, segments[i].role, segments[i].letter);
		pen_addf(&legend, " %s %s  ", segments[i].name,
			 group_page_format(p, parts[i], text));
	}
	meter_draw(&meter, &pen);
}

/*
 * Draw three amounts: the headroom below the limit, the memory usage that kubectl top
 * shows, and the memory that this usage does not include.
 */
static void draw_conclusions(struct group_page *p)
{
	const struct oom_figures *f = p->figures;
	struct pen pen = group_page_line(p);
	char text[UNITS_TEXT_SIZE];

	if (f->limit_bytes != CGROUP_NO_LIMIT)
		pen_addf(&pen, "headroom %s   ",
			 group_page_format(p, f->headroom_bytes, text));
	pen_addf(&pen, "kubectl top shows %s",
		 group_page_format(p, f->working_set_bytes, text));
	if (bytes_known(f->hidden_bytes) && f->hidden_bytes > 0) {
		pen.role = ROLE_GROWN;
		pen_addf(&pen, " (hides %s)",
			 group_page_format(p, f->hidden_bytes, text));
		pen.role = ROLE_TEXT;
	}
	if (bytes_known(f->unaccounted_bytes) && f->unaccounted_bytes > f->slack_bytes)
		pen_addf(&pen, "   unaccounted %s",
			 group_page_format(p, f->unaccounted_bytes, text));
	if (f->unreadable_count > 0) {
		pen.role = ROLE_DIM;
		pen_addf(&pen, "   %zu not read", f->unreadable_count);
	}
}

static void draw_growth(struct group_page *p)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct growth *growth =
		seen_growth_find((struct seen_growth *)&p->group->need);
	const struct cgroup_pressure *pressure = &p->group->cgroup.pressure;
	struct pen pen = group_page_line(p);

	growth_text_add(&text, growth, group_page_limit(p));
	pen_add(&pen, "need: ");
	pen.role = growth->kind == GROWTH_STEADY ? ROLE_GROWN : ROLE_TEXT;
	pen_add(&pen, text.text);
	pen.role = ROLE_TEXT;
	if (p->group->cgroup.has_pressure && pressure->some_avg10_percent_x100 > 0 &&
	    pen.end - pen.x > PRESSURE_WIDTH)
		pen_addf(&pen, "   waits for memory %u.%02u%%",
			 pressure->some_avg10_percent_x100 / 100,
			 pressure->some_avg10_percent_x100 % 100);
}

void group_page_figures(struct group_page *p)
{
	draw_head(p);
	draw_bar(p);
	draw_conclusions(p);
	draw_growth(p);
}
