/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "sample/recording/recorder.h"
#include "sample/recording/replay.h"
#include "ui/data/replay.h"
#include "ui/state.h"

static const char *const view_titles[VIEW_COUNT_] = {
	[VIEW_PROCESSES] = "processes", [VIEW_PROCESS] = "process",
	[VIEW_MAPPINGS] = "mappings",	[VIEW_HEAP] = "heap",
	[VIEW_CGROUP] = "group",	[VIEW_HELP] = "help",
};

/* Return the time at which the figures on the screen were read. */
static uint64_t taken_ns(const struct ui *ui)
{
	const struct heap_findings *f = data_heap_findings(&ui->data);
	const struct usage *u = data_detail(&ui->data);

	if (ui->view == VIEW_HEAP && f)
		return f->taken_ns;
	if (ui->view == VIEW_CGROUP)
		return ui->data.group.taken_ns;
	if (ui->view == VIEW_PROCESSES || !u)
		return ui->data.processes->taken_ns;
	/* if the memory of the process cannot be read, return the time of the attempt */
	return u->taken_ns > 0 ? u->taken_ns : ui->data.detail.taken_ns;
}

struct word {
	enum role role;
	struct strbuf text;
};

#define WORDS_MAX 6

static void add_word(struct word *words, size_t *count, enum role role,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_word(struct word *words, size_t *count, enum role role,
		     const char *format, ...)
{
	struct word *word = &words[(*count)++];
	va_list args;

	*word = (struct word){ role, STRBUF_INIT };
	va_start(args, format);
	strbuf_vaddf(&word->text, format, args);
	va_end(args);
}

/* Format the age of data with one decimal, such as "0.2s". */
static const char *format_age(uint64_t ns, char buf[UNITS_TEXT_SIZE])
{
	if (ns >= 60 * NS_PER_S)
		return units_format_duration(ns, buf);
	snprintf(buf, UNITS_TEXT_SIZE, "%u.%us", (unsigned int)(ns / NS_PER_S),
		 (unsigned int)(ns / (100 * NS_PER_MS) % 10));
	return buf;
}

/* Format an interval such as "1s" or "500ms", without a trailing ".0". */
static const char *format_interval(uint64_t ns, char buf[UNITS_TEXT_SIZE])
{
	char *fraction = strstr(units_format_duration(ns, buf), ".0");

	if (fraction)
		memmove(fraction, fraction + 2, strlen(fraction + 2) + 1);
	return buf;
}

static void add_recorder(const struct ui *ui, struct word *words, size_t *count)
{
	const struct recorder *recorder = ui->options->recorder;

	if (!recorder)
		return;
	if (recorder_error(recorder) < 0)
		add_word(words, count, ROLE_ALERT, " not recorded ");
	else
		add_word(words, count, ROLE_ALERT, " REC ");
}

/* Show how often memstate reads the figures, or why it no longer reads them. */
static void add_pace(const struct ui *ui, struct word *words, size_t *count)
{
	const struct data *d = &ui->data;
	char text[UNITS_TEXT_SIZE];

	if (ui_has_ended(ui) ||
	    (ui->view == VIEW_CGROUP ? d->group.is_gone
				     : ui->view != VIEW_PROCESSES && d->detail_has_ended))
		add_word(words, count, ROLE_ALERT, " ended ");
	else if (ui->is_paused)
		add_word(words, count, ROLE_ALERT, " PAUSED ");
	else if (!ui->options->is_live)
		add_word(words, count, ROLE_STATUS, " captured ");
	else if (ui->view == VIEW_HEAP && ui->options->auto_pause_ns == 0)
		add_word(words, count, ROLE_STATUS, " once ");
	else if (ui->view == VIEW_HEAP &&
		 data_heap_wait_ns(d, ui->interval_ns) > ui->interval_ns)
		add_word(words, count, ROLE_STATUS, " every %s ",
			 format_interval(data_heap_wait_ns(d, ui->interval_ns), text));
	else if (d->is_slowed)
		add_word(words, count, ROLE_ALERT, " slowed to %s ",
			 format_interval(data_detail_interval_ns(d, ui->interval_ns),
					 text));
	else
		add_word(words, count, ROLE_STATUS, " every %s ",
			 format_interval(ui->interval_ns, text));
}

/*
 * Show the number of processes that could not be read, or a note that the selected
 * process or the cgroup could not be read.
 */
static void add_unreadable(const struct ui *ui, int width, struct word *words,
			   size_t *count)
{
	const struct usage *u = data_detail(&ui->data);
	const char *end = width < 60 ? "" : "able";
	enum view view = ui->view == VIEW_HELP ? ui->view_before_help : ui->view;

	if (view == VIEW_CGROUP) {
		if (ui->data.group.error)
			add_word(words, count, ROLE_ALERT, " unread%s ", end);
	} else if (view != VIEW_PROCESSES) {
		if (u && u->error)
			add_word(words, count, ROLE_ALERT, " unread%s ", end);
	} else if (ui->data.processes->unreadable_count > 0) {
		add_word(words, count, ROLE_STATUS, " %zu unread%s",
			 ui->data.processes->unreadable_count, end);
	}
}

/* Show the time and number of the recorded sample, and the total number of samples. */
static void add_moment(const struct ui *ui, int width, struct word *words, size_t *count)
{
	const struct usage *u = data_detail(&ui->data);
	const struct replay *replay = ui->options->replay;
	size_t index = data_replay_index(&ui->data);
	char utc[CLOCK_TEXT_SIZE], interval[UNITS_TEXT_SIZE];

	clock_format_utc(replay_unix_ms(replay, index), utc);
	if (u && u->source == SOURCE_ROLLUP && ui->view == VIEW_MAPPINGS)
		add_word(words, count, ROLE_ALERT, " earlier mappings ");
	add_word(words, count, ROLE_STATUS, " %s",
		 width < 70 ? utc + strlen("2026-11-21T") : utc);
	add_word(words, count, ROLE_STATUS, " %zu/%zu ", index + 1, replay_count(replay));
	if (ui->is_playing)
		add_word(words, count, ROLE_ALERT, " every %s ",
			 format_interval(ui->interval_ns, interval));
}

/*
 * Format the words at the right end of the status line, which are always visible. Return
 * the number of words.
 */
static size_t make_words(const struct ui *ui, uint64_t now_ns, int width,
			 struct word words[WORDS_MAX])
{
	const struct heap_findings *f = data_heap_findings(&ui->data);
	const struct data *d = &ui->data;
	uint64_t taken = taken_ns(ui), cost_ns = d->cost_ns;
	char text[UNITS_TEXT_SIZE];
	size_t count = 0;

	if (ui->view == VIEW_HEAP && f)
		cost_ns = f->cost_ns;
	else if (ui->view == VIEW_CGROUP)
		cost_ns = d->group.cost_ns;
	add_unreadable(ui, width, words, &count);
	if (data_is_replayed(d)) {
		add_moment(ui, width, words, &count);
		return count;
	}
	add_word(words, &count, ROLE_STATUS, " age %s",
		 format_age(now_ns > taken ? now_ns - taken : 0, text));
	add_word(words, &count, ROLE_STATUS, " scan %s ",
		 units_format_duration(cost_ns, text));
	add_pace(ui, words, &count);
	add_recorder(ui, words, &count);
	return count;
}

static void draw_status(const struct ui *ui, struct canvas *c, uint64_t now_ns)
{
	struct word words[WORDS_MAX];
	size_t count = make_words(ui, now_ns, c->width, words);
	struct area line = { 0, 0, c->width, 1 };
	struct pen pen = canvas_pen(c, 1, 0, c->width - 1);
	int width = 0;

	for (size_t i = 0; i < count; i++)
		width += (int)words[i].text.length;
	canvas_fill(c, &line, ROLE_STATUS, ' ');
	pen.role = ROLE_STATUS;
	pen.end = c->width - width;
	pen_addf(&pen, "memstate %s", view_titles[ui->view]);
	if (ui->view == VIEW_PROCESSES)
		processes_add_followed(&ui->processes, &pen);
	if (ui->options->command) {
		pen_add(&pen, ": ");
		pen_add_foreign(&pen, ui->options->command, strlen(ui->options->command));
	}
	pen = canvas_pen(c, c->width > width ? c->width - width : 0, 0, c->width);
	for (size_t i = 0; i < count; i++) {
		pen.role = words[i].role;
		pen_add(&pen, words[i].text.text);
		strbuf_release(&words[i].text);
	}
}

/*
 * Number of spaces in each entry of the key bar, in addition to the key
 * name and the label.
 */
#define BAR_ENTRY_BLANKS 3

static void add_bar_entry(struct ui *ui, struct pen *pen, const struct key_row *row)
{
	struct bar_entry *entry = &ui->bar[ui->bar_count];
	char name[KEY_NAME_SIZE];

	entry->x = pen->x;
	entry->key = row->keys[0];
	pen->role = ROLE_KEY;
	pen_add(pen, keymap_format_key(row->keys[0], name));
	pen->role = ROLE_KEY_LABEL;
	pen_addf(pen, " %s ", row->label);
	entry->end = pen->x;
	pen->role = ROLE_TEXT;
	pen_add(pen, " ");
	ui->bar_count++;
}

static int bar_width(const struct key_row *row)
{
	char name[KEY_NAME_SIZE];

	return (int)strlen(keymap_format_key(row->keys[0], name)) +
	       (int)strlen(row->label) + BAR_ENTRY_BLANKS;
}

static bool is_in_bar(const struct key_row *row, unsigned int context)
{
	/* skip the row if an earlier row uses the same key in the same context */
	return row->label && key_row_works(row, context) &&
	       keymap_find(row->keys[0], context) == row->action;
}

/* Draw as many entries of the key bar as fit. The key for quitting is always shown. */
static void draw_bar(struct ui *ui, struct canvas *c)
{
	unsigned int context = ui_context(ui);
	struct pen pen = canvas_pen(c, 0, c->height - 1, c->width);
	const struct key_row *quit = NULL;
	int room = c->width;

	ui->bar_count = 0;
	ui->bar_y = c->height - 1;
	for (size_t i = 0; i < key_row_count; i++)
		if (key_rows[i].action == ACTION_QUIT && is_in_bar(&key_rows[i], context))
			quit = &key_rows[i];
	room -= quit ? bar_width(quit) - 1 : 0;
	for (size_t i = 0; i < key_row_count && ui->bar_count + 1 < BAR_ENTRIES_MAX;
	     i++) {
		if (&key_rows[i] == quit || !is_in_bar(&key_rows[i], context) ||
		    pen.x + bar_width(&key_rows[i]) > room)
			continue;
		add_bar_entry(ui, &pen, &key_rows[i]);
	}
	if (quit)
		add_bar_entry(ui, &pen, quit);
}

static const char *const prompt_titles[PROMPT_COUNT_] = {
	[PROMPT_SEARCH] = "Search: ",  [PROMPT_FILTER] = "Filter: ",
	[PROMPT_USER] = "Only user: ", [PROMPT_SAVE] = "Save as: ",
	[PROMPT_MOMENT] = "Go to: ",
};

/*
 * Ask for permission to inject a helper. The process keeps running, with an additional
 * thread until memstate removes the helper.
 */
static void draw_helper_question(const struct ui *ui, struct pen *pen, const char *pause)
{
	const struct usage *u = data_detail(&ui->data);

	if (u && pen->end - pen->x > 90) {
		pen_add(pen, "Start a helper thread inside ");
		pen_add_foreign(pen, u->process.comm, strlen(u->process.comm));
		pen_addf(pen,
			 " (%d), until memstate quits, and stop it for about %s? y/n ",
			 u->process.pid, pause);
	} else {
		pen_addf(pen,
			 "Start a helper thread inside it, stop it for about %s? y/n ",
			 pause);
	}
}

/* Ask for permission to stop the process or to inject a helper. */
static void draw_question(const struct ui *ui, struct pen *pen)
{
	const struct usage *u = data_detail(&ui->data);
	uint64_t pause_ns = data_heap_estimate_ns(&ui->data, ui->prompt.wishes);
	char pause[UNITS_TEXT_SIZE];

	if (ui->prompt.kind == PROMPT_SEND) {
		ui_draw_signal_prompt(ui, pen);
		return;
	}
	if (ui->prompt.kind == PROMPT_HELPER) {
		draw_helper_question(ui, pen,
				     bytes_known(pause_ns)
					     ? units_format_duration(pause_ns, pause)
					     : "a moment");
		return;
	}
	pen_add(pen, "Stop ");
	if (u && pen->end - pen->x > 60) {
		pen_add_foreign(pen, u->process.comm, strlen(u->process.comm));
		pen_addf(pen, " (%d) to read its heap, for about ", u->process.pid);
	} else {
		pen_add(pen, "it for about ");
	}
	pen_addf(pen, "%s? y/n ",
		 bytes_known(pause_ns) ? units_format_duration(pause_ns, pause)
				       : "a moment");
}

/* Draw the prompt or the message in the line above the key bar. */
static void draw_prompt(const struct ui *ui, struct canvas *c)
{
	struct area line = { 0, c->height - 2, c->width, 1 };
	struct pen pen = canvas_pen(c, 1, c->height - 2, c->width - 2);
	const struct strbuf *text = &ui->prompt.text;
	size_t skipped = 0;

	if (ui->prompt.kind == PROMPT_NONE && ui->message[0] == '\0')
		return;
	canvas_fill(c, &line, ROLE_TEXT, ' ');
	pen.role = ROLE_STRONG;
	if (prompt_is_question(&ui->prompt)) {
		draw_question(ui, &pen);
	} else if (ui->prompt.kind != PROMPT_NONE) {
		size_t room = (size_t)c->width / 2;

		if (prompt_titles[ui->prompt.kind])
			pen_add(&pen, prompt_titles[ui->prompt.kind]);
		else
			ui_draw_signal_prompt(ui, &pen);
		pen.role = ROLE_TEXT;
		/* if the text is too long, show its end, where the user types */
		if (text->length > room)
			skipped = text->length - room;
		while (skipped < text->length && (text->text[skipped] & 0xc0) == 0x80)
			skipped++;
		pen_add_foreign(&pen, strbuf_text(text) + skipped,
				text->length - skipped);
		pen.role = ROLE_SELECTED;
		pen_add(&pen, "_");
		pen.role = ROLE_STRONG;
		pen_add(&pen, "  ");
	}
	pen_add_foreign(&pen, ui->message, strlen(ui->message));
}

static void draw_list_error(const struct ui *ui, struct canvas *c)
{
	struct pen pen = canvas_pen(c, 1, 2, c->width - 2);

	if (data_is_replayed(&ui->data) && ui->data.list_error < 0) {
		pen.role = ROLE_ALERT;
		pen_addf(&pen, " cannot read this sample: %s ",
			 strerror(-ui->data.list_error));
		return;
	}
	if (ui->data.list_error == 0)
		return;
	pen.role = ROLE_ALERT;
	pen_addf(&pen, " cannot list the processes: %s ", strerror(-ui->data.list_error));
}

static void draw_view(struct ui *ui, struct canvas *c, const struct area *area,
		      uint64_t now_ns)
{
	switch (ui->view) {
	case VIEW_PROCESSES: processes_draw(&ui->processes, c, area); break;
	case VIEW_PROCESS: process_draw(&ui->process, c, area, now_ns); break;
	case VIEW_MAPPINGS: mappings_draw(&ui->mappings, c, area); break;
	case VIEW_HEAP: heap_view_draw(&ui->heap, c, area, now_ns); break;
	case VIEW_CGROUP: group_view_draw(&ui->group, c, area); break;
	default:
		help_draw(&ui->help, data_is_replayed(&ui->data), ui->theme, c, area);
		break;
	}
}

void ui_draw(struct ui *ui, struct canvas *c, uint64_t now_ns)
{
	struct area area = { 0, 1, c->width, c->height - 2 };
	struct pen pen;

	if (c->width < UI_WIDTH_MIN || c->height < UI_HEIGHT_MIN) {
		pen = canvas_pen(c, 0, 0, c->width);
		pen_addf(&pen, "terminal too small");
		pen = canvas_pen(c, 0, 1, c->width);
		pen_addf(&pen, "%dx%d, needs %dx%d", c->width, c->height, UI_WIDTH_MIN,
			 UI_HEIGHT_MIN);
		return;
	}
	if (data_is_replayed(&ui->data)) {
		ui_replay_draw(ui, c);
		area.y++;
		area.height--;
	}
	/* reserve a line for the prompt or message, so that it does not cover the view */
	if (ui->prompt.kind != PROMPT_NONE || ui->message[0] != '\0')
		area.height--;
	draw_view(ui, c, &area, now_ns);
	if (ui->menu.kind != MENU_NONE)
		menu_draw(&ui->menu, c, &area);
	draw_list_error(ui, c);
	draw_status(ui, c, now_ns);
	draw_prompt(ui, c);
	draw_bar(ui, c);
}
