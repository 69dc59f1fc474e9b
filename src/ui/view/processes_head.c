/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/processes_head.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "ui/data/data.h"
#include "ui/data/feed.h"
#include "ui/screen/meter.h"
#include "ui/view/process_matrix.h"

/*
 * Sums over all processes. They include Pss and Uss but not Rss, which would count shared
 * pages repeatedly.
 */
struct sums {
	size_t count;
	size_t unread; /* number of processes whose figures are unknown */
	uint64_t pss_bytes, uss_bytes, lazyfree_bytes, swap_bytes;
};

static void sum_up(struct sums *sums, const struct usage *u)
{
	sums->count++;
	if (!bytes_known(u->total.bytes[SMAPS_PSS])) {
		sums->unread++;
		return;
	}
	sums->pss_bytes = bytes_add(sums->pss_bytes, u->total.bytes[SMAPS_PSS]);
	sums->uss_bytes = bytes_add(sums->uss_bytes, usage_uss_bytes(u));
	sums->lazyfree_bytes =
		bytes_add(sums->lazyfree_bytes, u->state_bytes[STATE_LAZYFREE]);
	sums->swap_bytes = bytes_add(sums->swap_bytes, u->total.bytes[SMAPS_SWAP]);
}

static void add_whole(struct pen *pen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Draw the text only if all of it fits. */
static void add_whole(struct pen *pen, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	if (pen->x + (int)text.length <= pen->end)
		pen_add(pen, text.text);
}

/*
 * Draw the sums over some processes, and the memory of the machine from the feed
 * `machine`, which is NULL if the sums do not include all processes.
 */
static void add_sums(struct pen *pen, const struct sums *s, const struct feed *machine,
		     const char *what)
{
	char first[UNITS_TEXT_SIZE], second[UNITS_TEXT_SIZE];

	pen->role = ROLE_STRONG;
	pen_addf(pen, "%zu", s->count);
	pen->role = ROLE_TEXT;
	pen_add(pen, what);
	if (s->unread < s->count)
		pen_addf(pen, "  Pss %s  Uss %s", units_format_bytes(s->pss_bytes, first),
			 units_format_bytes(s->uss_bytes, second));
	if (machine && bytes_known(machine->machine_bytes) &&
	    bytes_known(machine->available_bytes))
		add_whole(pen, "  available %s of %s",
			  units_format_bytes(machine->available_bytes, first),
			  units_format_bytes(machine->machine_bytes, second));
	if (s->unread < s->count) {
		add_whole(pen, "  lazyfree %s",
			  units_format_bytes(s->lazyfree_bytes, first));
		add_whole(pen, "  Swap %s", units_format_bytes(s->swap_bytes, first));
	}
	if (s->unread > 0)
		add_whole(pen, "  (%zu not read)", s->unread);
}

static void add_filter(const struct processes_view *v, struct strbuf *out, bool ascii)
{
	strbuf_addf(out, " of %zu", v->data->processes->count);
	if (v->user.length > 0)
		strbuf_addf(out, ", user ");
	text_add_printable(out, strbuf_text(&v->user), v->user.length, ascii);
	if (v->selection.filter.length > 0)
		strbuf_addf(out, "%s with ", v->user.length > 0 ? "," : "");
	text_add_printable(out, strbuf_text(&v->selection.filter),
			   v->selection.filter.length, ascii);
}

void processes_add_followed(const struct processes_view *v, struct pen *pen)
{
	const struct usage *u = processes_chosen(v);
	bool is_listed = u && u->process.pid == v->cursor_pid &&
			 u->process.start_ticks == v->cursor_start_ticks;

	if (v->is_following)
		pen_addf(pen, ", following %d%s", v->cursor_pid,
			 is_listed ? "" : ": not in the list");
}

static void draw_sums(const struct processes_view *v, struct canvas *c,
		      const struct area *area)
{
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;
	struct sums all = { 0 }, tagged = { 0 };
	bool is_filtered = v->selection.filter.length > 0 || v->user.length > 0;

	for (size_t r = 0; r < v->match_count; r++) {
		const struct usage *u = ((const struct process_row *)v->order[r])->usage;

		sum_up(&all, u);
		if (process_set_has(&v->tags, &u->process))
			sum_up(&tagged, u);
	}
	if (tagged.count > 0)
		strbuf_addf(&what, " tagged");
	else if (is_filtered)
		add_filter(v, &what, c->ascii);
	else
		strbuf_addf(&what, " process%s", all.count == 1 ? "" : "es");
	add_sums(&pen, tagged.count > 0 ? &tagged : &all,
		 tagged.count > 0 || is_filtered ? NULL : v->data->feed, what.text);
}

/* Width of the legend with the full names of the page states. */
#define FULL_LEGEND_WIDTH 116

/*
 * Draw the legend of the page states, with the known amounts of a process. If the full
 * names do not fit, use the names of the columns.
 */
static void draw_legend(struct pen *pen, const struct usage *u)
{
	bool is_full = pen->end - pen->x >= FULL_LEGEND_WIDTH;

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		const char *name = is_full ? page_state_names[s]
					   : state_heading((enum page_state)s);
		char text[UNITS_TEXT_SIZE] = "";
		int width = (int)strlen(name) + 2;

		if (u && bytes_known(u->state_bytes[s]))
			units_format_bytes(u->state_bytes[s], text);
		width += text[0] == '\0' ? 0 : 1 + (int)strlen(text);
		if (pen->x + width > pen->end)
			return;
		meter_add_letter(pen, (enum role)(ROLE_STATE + s),
				 part_letter((enum part)(PART_STATE + s)));
		pen_addf(pen, " %s%s%s", name, text[0] == '\0' ? "" : " ", text);
		pen_add(pen, "  ");
	}
}

static void draw_states(struct pen *pen, const struct usage *u)
{
	char letters[STATE_COUNT_];
	enum role roles[STATE_COUNT_];
	const struct meter meter = {
		u->state_bytes, STATE_COUNT_, u->total.bytes[SMAPS_RSS], letters, roles,
	};

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		letters[s] = part_letter((enum part)(PART_STATE + s));
		roles[s] = (enum role)(ROLE_STATE + s);
	}
	pen_addf(pen, "%d Rss ", u->process.pid);
	meter_draw(&meter, pen);
}

/* Draw the page states of the process under the cursor, as a bar and as amounts. */
static void draw_chosen(const struct processes_view *v, struct canvas *c,
			const struct area *area)
{
	const struct usage *u = processes_chosen(v);
	char text[UNITS_TEXT_SIZE];
	struct pen bar = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	struct pen legend = canvas_pen(c, area->x + 1, area->y + 1, area->width - 1);

	draw_legend(&legend, u);
	if (!u)
		return;
	if (!u->error && bytes_known(u->total.bytes[SMAPS_RSS])) {
		draw_states(&bar, u);
		return;
	}
	bar.role = ROLE_DIM;
	pen_addf(&bar, "%d: ", u->process.pid);
	if (bytes_known(u->total.bytes[SMAPS_RSS]))
		pen_addf(&bar, "Rss %s; ",
			 units_format_bytes(u->total.bytes[SMAPS_RSS], text));
	pen_addf(&bar, "%s",
		 u->error == -EACCES || u->error == -EPERM
			 ? "only its owner and root may read the other figures"
		 : u->error ? strerror(-u->error)
			    : "the process has not been read yet");
}

void processes_head_draw(const struct processes_view *v, struct canvas *c,
			 const struct area *area)
{
	struct area chosen = { area->x, area->y + 1, area->width, 2 };

	draw_sums(v, c, area);
	if (area->height >= PROCESSES_HEAD_HEIGHT)
		draw_chosen(v, c, &chosen);
}
