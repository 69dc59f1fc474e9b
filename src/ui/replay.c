/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/kmsg.h"
#include "sample/recording/replay.h"
#include "ui/data/replay.h"
#include "ui/data/replay_peak.h"
#include "ui/state.h"

#define PAGE_SAMPLES 60
#define EVENTS_MAX 10000

static size_t last_index(const struct ui *ui)
{
	return replay_count(ui->options->replay) - 1;
}

/*
 * Add an event with a one-line text, such as "oom_kill at 2026-11-21T08:15:31.250Z,
 * process 77: …".
 */
static int add_event(void *context, const struct recorded_event *event)
{
	struct ui *ui = context;
	const struct replay *replay = ui->options->replay;
	size_t index = ui->event_count > 0 ? ui->events[ui->event_count - 1].index : 0;
	_cleanup_strbuf_ struct strbuf messages = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;
	char utc[CLOCK_TEXT_SIZE];

	while (index < last_index(ui) &&
	       replay_unix_ms(replay, index + 1) <= event->unix_ms)
		index++;
	strbuf_addf(&text, "%s at %s", event->kind ? event->kind : "event",
		    clock_format_utc(event->unix_ms, utc));
	if (event->pid > 0)
		strbuf_addf(&text, ", process %d", event->pid);
	proc_kmsg_add_messages(event->text ? event->text : "", &messages);
	if (messages.length > 0)
		strbuf_addf(&text, ": %.*s", (int)strcspn(messages.text, "\n"),
			    messages.text);
	ui->events = xgrow(ui->events, &ui->event_capacity, ui->event_count + 1,
			   sizeof(*ui->events));
	ui->events[ui->event_count++] =
		(struct replay_event){ index, strbuf_take(&text) };
	return ui->event_count < EVENTS_MAX ? 0 : 1;
}

/* Return the event of the last kill or, without a kill, the last event. */
static size_t find_main_event(const struct ui *ui)
{
	size_t index;

	if (!replay_find_kill(ui->options->replay, &index))
		return ui->event_count - 1;
	for (size_t i = ui->event_count; i > 0; i--)
		if (ui->events[i - 1].index == index)
			return i - 1;
	return ui->event_count - 1;
}

/* Show the most interesting sample, with a message that gives the reason. */
static void go_to_highlight(struct ui *ui)
{
	struct replay_peak peak;
	char text[UNITS_TEXT_SIZE];

	if (ui->event_count > 0) {
		ui->event_shown = find_main_event(ui);
		ui_show_message(ui, "e/E: next/previous event; showing %s",
				ui->events[ui->event_shown].text);
		(void)data_replay_go(&ui->data, ui->events[ui->event_shown].index);
		return;
	}
	if (!replay_peak_find(ui->options->replay, ui->options->targets, &peak))
		return;
	ui_show_message(ui, "no events; showing %s the largest total Pss, %s",
			peak.is_exact ? "the sample with" : "a sample near",
			units_format_bytes(peak.pss_bytes, text));
	(void)data_replay_go(&ui->data, peak.index);
}

void ui_replay_init(struct ui *ui)
{
	ui->event_shown = SIZE_MAX;
	if (!ui->options->replay)
		return;
	/* ignore events that cannot be read, because the samples may still be intact */
	(void)replay_for_each_event(ui->options->replay, add_event, ui);
	if (ui->options->opens_at_highlight)
		go_to_highlight(ui);
}

void ui_replay_release(struct ui *ui)
{
	for (size_t i = 0; i < ui->event_count; i++)
		free(ui->events[i].text);
	free(ui->events);
}

static void go(struct ui *ui, size_t index)
{
	if (data_replay_go(&ui->data, index))
		ui->wants_refresh = true;
}

/*
 * Return the index of the next or previous event relative to the current sample. If
 * several events precede the same sample, each call moves by one event. If there is no
 * such event, the index is event_count or higher.
 */
static size_t find_event(const struct ui *ui, int step)
{
	size_t index = data_replay_index(&ui->data), i = 0;

	if (ui->event_shown < ui->event_count &&
	    ui->events[ui->event_shown].index == index)
		return ui->event_shown + (size_t)step;
	while (i < ui->event_count && ui->events[i].index < index)
		i++;
	return step > 0 ? i : i - 1;
}

static void go_to_event(struct ui *ui, int step)
{
	size_t i = find_event(ui, step);

	if (i >= ui->event_count) {
		ui_show_message(ui, step > 0 ? "no later event" : "no earlier event");
		return;
	}
	ui->event_shown = i;
	ui_show_message(ui, "%s", ui->events[i].text);
	go(ui, ui->events[i].index);
}

static void go_back(struct ui *ui, size_t count)
{
	size_t index = data_replay_index(&ui->data);

	go(ui, index > count ? index - count : 0);
}

static void toggle_playing(struct ui *ui)
{
	ui->is_playing = !ui->is_playing && data_replay_index(&ui->data) < last_index(ui);
}

/*
 * Move to another position in the recording, and stop the playback so that the user can
 * examine the sample.
 */
static bool move(struct ui *ui, enum action action)
{
	size_t index = data_replay_index(&ui->data);

	switch ((int)action) {
	case ACTION_EARLIER: go_back(ui, 1); break;
	case ACTION_LATER: go(ui, index + 1); break;
	case ACTION_MUCH_EARLIER: go_back(ui, PAGE_SAMPLES); break;
	case ACTION_MUCH_LATER: go(ui, index + PAGE_SAMPLES); break;
	case ACTION_BEGINNING: go(ui, 0); break;
	case ACTION_END: go(ui, last_index(ui)); break;
	case ACTION_NEXT_EVENT: go_to_event(ui, 1); break;
	case ACTION_PREVIOUS_EVENT: go_to_event(ui, -1); break;
	default: return false;
	}
	ui->is_playing = false;
	return true;
}

bool ui_replay_act(struct ui *ui, enum action action)
{
	if (move(ui, action))
		return true;
	switch ((int)action) {
	case ACTION_GO_TO: prompt_open(ui, PROMPT_MOMENT); return true;
	case ACTION_PLAY: toggle_playing(ui); return true;
	default: return false;
	}
}

/*
 * Append the text that the user typed. If it is a time of day, such as "8:15", "08:15:30"
 * or "08:15:30.5", insert the date of the current sample.
 */
static void complete_time(const struct ui *ui, const char *text, struct strbuf *out)
{
	const char *colon = strchr(text, ':');
	char utc[CLOCK_TEXT_SIZE];

	if (!colon || colon - text > 2) {
		strbuf_add_text(out, text);
		return;
	}
	clock_format_utc(
		replay_unix_ms(ui->options->replay, data_replay_index(&ui->data)), utc);
	strbuf_addf(out, "%.10sT%s%sZ", utc, text, strchr(colon + 1, ':') ? "" : ":00");
}

bool ui_replay_go_to(struct ui *ui, const char *text)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT;
	size_t index;

	complete_time(ui, text, &whole);
	if (replay_find_moment(ui->options->replay, strbuf_text(&whole), &index) < 0)
		return false;
	ui->is_playing = false;
	go(ui, index);
	return true;
}

uint64_t ui_replay_due_ns(const struct ui *ui)
{
	if (ui->wants_refresh)
		return 0;
	return ui->is_playing ? ui->due_ns : UINT64_MAX;
}

void ui_replay_refresh(struct ui *ui, uint64_t now_ns)
{
	if (ui->is_playing && !ui->wants_refresh) {
		go(ui, data_replay_index(&ui->data) + 1);
		ui->is_playing = data_replay_index(&ui->data) < last_index(ui);
	}
	ui->due_ns = now_ns + ui->interval_ns;
}

/*
 * Format the time of a sample as "08:15:30", with the date if the recording spans
 * several days.
 */
static void format_end(const struct ui *ui, size_t index, char text[CLOCK_TEXT_SIZE])
{
	const struct replay *replay = ui->options->replay;
	char first[CLOCK_TEXT_SIZE], last[CLOCK_TEXT_SIZE], own[CLOCK_TEXT_SIZE];
	bool is_one_day;

	clock_format_utc(replay_unix_ms(replay, 0), first);
	clock_format_utc(replay_unix_ms(replay, last_index(ui)), last);
	clock_format_utc(replay_unix_ms(replay, index), own);
	is_one_day = memcmp(first, last, strlen("2026-11-21")) == 0;
	if (is_one_day)
		snprintf(text, CLOCK_TEXT_SIZE, "%.8s", own + strlen("2026-11-21T"));
	else
		snprintf(text, CLOCK_TEXT_SIZE, "%.5s %.8s", own + strlen("2026-"),
			 own + strlen("2026-11-21T"));
}

/* Return the area of the timeline on the screen. */
static struct area track_area(const struct ui *ui, int width)
{
	char text[CLOCK_TEXT_SIZE];
	int end;

	format_end(ui, 0, text);
	end = (int)strlen(text) + 2;
	return (struct area){ end, 1, width - 2 * end, 1 };
}

bool ui_replay_click(struct ui *ui, int x, int y)
{
	struct area track;

	if (!data_is_replayed(&ui->data))
		return false;
	track = track_area(ui, ui->width);
	if (y != track.y || x < track.x || x >= track.x + track.width)
		return false;
	ui->is_playing = false;
	go(ui, track.width < 2 ? 0
			       : (size_t)(x - track.x) * last_index(ui) /
					 (size_t)(track.width - 1));
	return true;
}

/* Return the column of a sample on the timeline. */
static int place(const struct area *track, size_t index, size_t last)
{
	return track->x +
	       (last > 0 ? (int)(index * (size_t)(track->width - 1) / last) : 0);
}

void ui_replay_draw(struct ui *ui, struct canvas *c)
{
	struct area track = track_area(ui, c->width);
	struct pen pen = canvas_pen(c, 1, track.y, c->width - 1);
	size_t last = last_index(ui), index = data_replay_index(&ui->data);
	char text[CLOCK_TEXT_SIZE];

	ui->width = c->width;
	format_end(ui, 0, text);
	pen.role = ROLE_DIM;
	pen_add(&pen, text);
	pen_move_to(&pen, track.x + track.width + 1);
	format_end(ui, last, text);
	pen_add(&pen, text);
	canvas_fill(c, &track, ROLE_DIM, c->ascii ? '-' : 0x2500);
	for (size_t i = 0; i < ui->event_count; i++)
		canvas_put(c, place(&track, ui->events[i].index, last), track.y,
			   ROLE_ALERT, '!');
	canvas_put(c, place(&track, index, last), track.y, ROLE_SELECTED,
		   c->ascii ? '#' : 0x25cf);
}
