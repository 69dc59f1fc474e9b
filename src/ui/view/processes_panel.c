/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/processes_panel.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/diagnose.h"
#include "ui/data/history.h"
#include "ui/screen/lines.h"
#include "ui/screen/meter.h"

#define SCREEN_WIDTH_MIN 150
#define SCREEN_HEIGHT_MIN 24
#define WIDTH_MIN 52
#define WIDTH_MAX 90
#define SENTENCES_MAX 4
#define NAME_WIDTH 16
#define AMOUNT_WIDTH 8
#define SHARE_WIDTH 8

int processes_panel_width(int screen_width, int screen_height)
{
	int width = screen_width / 3;

	if (screen_width < SCREEN_WIDTH_MIN || screen_height < SCREEN_HEIGHT_MIN)
		return 0;
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Draw text, wrapped into several lines. The text may contain untrusted words. */
static void add_text(struct lines *l, const char *first, const char *text)
{
	_cleanup_strbuf_ struct strbuf wrapped = STRBUF_INIT;
	char *line, *rest;

	strbuf_add_text(&wrapped, first);
	text_add_wrapped(&wrapped, text, strlen(first) > 0 ? 2 : 0,
			 (size_t)l->area.width - 2);
	rest = wrapped.text;
	while ((line = strsep(&rest, "\n")) && line[0] != '\0') {
		struct pen pen = lines_next(l);

		pen_add(&pen, line);
	}
}

static void add_command(struct lines *l, const struct usage *u, bool ascii)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!u->command || u->command[0] == '\0')
		return;
	text_add_printable(&text, u->command, strlen(u->command), ascii);
	add_text(l, "", strbuf_text(&text));
}

static void add_amount(struct lines *l, const struct usage *u, enum part part)
{
	uint64_t bytes = part_get(u, part), rss_bytes = u->total.bytes[SMAPS_RSS];
	unsigned int per_mille = units_per_mille(bytes, rss_bytes);
	_cleanup_strbuf_ struct strbuf share = STRBUF_INIT;
	struct pen pen = lines_next(l);
	char text[UNITS_TEXT_SIZE];
	int end = pen.x + NAME_WIDTH;

	if (part >= PART_STATE) {
		enum role role = (enum role)(ROLE_STATE + (part - PART_STATE));

		meter_add_letter(&pen, role, part_letter(part));
		pen_add(&pen, " ");
	}
	pen_add(&pen, part_name(part));
	pen_move_to(&pen, end);
	pen_add_right(&pen, AMOUNT_WIDTH, units_format_bytes(bytes, text));
	/* show a share of Rss only for page states */
	if (part < PART_STATE || !bytes_known(bytes) || !bytes_known(rss_bytes))
		return;
	strbuf_addf(&share, "%u.%u%%", per_mille / 10, per_mille % 10);
	pen_add_right(&pen, SHARE_WIDTH, share.text);
}

static void add_figures(struct lines *l, const struct usage *u)
{
	static const enum part parts[] = { PART_RSS, PART_PSS, PART_USS, PART_SWAP };
	struct diagnosis sentences[SENTENCES_MAX];
	size_t count = diagnose(u, sentences, SENTENCES_MAX);

	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		add_amount(l, u, (enum part)(PART_STATE + s));
	lines_next(l);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		add_amount(l, u, parts[i]);
	for (size_t i = 0; i < count; i++) {
		lines_next(l);
		add_text(l, l->canvas->ascii ? "* " : "• ", sentences[i].text);
	}
}

void processes_panel_draw(const struct usage *u, struct canvas *c,
			  const struct area *area)
{
	struct lines l = {
		.canvas = c,
		.area = { area->x + 1, area->y, area->width - 1, area->height },
	};
	struct pen pen;

	for (int y = area->y; y < area->y + area->height; y++)
		canvas_put(c, area->x, y, ROLE_DIM, c->ascii ? '|' : 0x2502);
	if (!u)
		return;
	pen = lines_next(&l);
	pen.role = ROLE_STRONG;
	pen_add_foreign(&pen, u->process.comm, strlen(u->process.comm));
	pen.role = ROLE_TEXT;
	pen_addf(&pen, " (%d), state %c, %u thread%s", u->process.pid, u->process.state,
		 u->process.thread_count, u->process.thread_count == 1 ? "" : "s");
	add_command(&l, u, c->ascii);
	lines_next(&l);
	if (!u->error && bytes_known(u->total.bytes[SMAPS_RSS]))
		add_figures(&l, u);
	else
		add_amount(&l, u, PART_RSS);
}
