/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state - the state of the user interface, what keys do to it, and how it is drawn.
 * Nothing in this header needs a terminal.
 */
#ifndef MS_UI_STATE_H
#define MS_UI_STATE_H

#include "model/settings.h"
#include "ui/data/data.h"
#include "ui/data/options.h"
#include "ui/screen/menu.h"
#include "ui/view/group.h"
#include "ui/view/heap.h"
#include "ui/view/help.h"
#include "ui/view/mappings.h"
#include "ui/view/process.h"
#include "ui/view/processes.h"

enum view {
	VIEW_PROCESSES,
	VIEW_PROCESS,
	VIEW_MAPPINGS,
	VIEW_HEAP,
	VIEW_CGROUP,
	VIEW_HELP,
	VIEW_COUNT_
};

enum prompt_kind {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_USER, /* asks for the user whose processes are shown */
	PROMPT_SAVE,
	PROMPT_MOMENT,	   /* asks for the time in the recording to go to */
	PROMPT_STOP,	   /* a yes-or-no question: stop the process to read its heap? */
	PROMPT_HELPER,	   /* a yes-or-no question: inject a helper into the process? */
	PROMPT_SIGNAL,	   /* asks for the signal to send */
	PROMPT_SEND,	   /* a yes-or-no question: send the signal? */
	PROMPT_SEND_AGAIN, /* asks for the pid of init or memstate itself */
	PROMPT_COUNT_
};

struct prompt {
	enum prompt_kind kind;
	struct strbuf text;
	char *before;	    /* the text to restore if the user presses Esc; owned */
	bool is_suggestion; /* the text is a suggestion, which the first key replaces */
	/* the user has been warned that the file exists; Enter overwrites the file */
	bool is_confirmed;
	/* enum heap_wish flags of the heap read to start if the user answers yes */
	unsigned int wishes;
	struct process process; /* the process to which a signal is sent */
	int signal;
};

#define BAR_ENTRIES_MAX 16

struct bar_entry {
	int x, end;
	uint32_t key;
};

struct replay_event {
	size_t index; /* index of the last sample before the event */
	char *text;
};

struct ui {
	const struct ui_options *options;
	struct data data;
	enum view view;
	enum view view_before_help;
	/* the view to return to; VIEW_CGROUP: the group view was opened first */
	enum view view_before_group;
	bool is_from_group; /* the selected process was opened from the group view */
	struct processes_view processes;
	struct process_view process;
	struct mappings_view mappings;
	struct heap_view heap;
	struct group_view group;
	struct list help;
	struct menu menu;
	struct prompt prompt;
	char message[160]; /* one line, shown until the next key; "": no message */
	enum theme theme;
	uint64_t interval_ns;
	uint64_t due_ns; /* time of the next refresh */
	bool wants_refresh;
	bool is_paused;
	bool is_playing;   /* replay: advance one sample per interval */
	bool wants_redraw; /* repaint the whole terminal */
	bool has_quit;
	struct replay_event *events; /* replay: events in chronological order */
	uint64_t record_due_ns;	     /* when to record the next sample */
	size_t event_count, event_capacity;
	size_t event_shown; /* index of the event whose text was shown last */
	struct bar_entry bar[BAR_ENTRIES_MAX];
	size_t bar_count;
	int bar_y;
	int width; /* screen width when last drawn */
};

void ui_init(struct ui *ui, const struct ui_options *options);
void ui_release(struct ui *ui);

/* Read the data of the current view, and compute the time of the next refresh. */
void ui_refresh(struct ui *ui, uint64_t now_ns);

/* Return when to call ui_refresh() next; UINT64_MAX: only after an event. */
uint64_t ui_due_ns(const struct ui *ui);

/*
 * Collect the results of finished threads, and start requested work. Returns true if
 * anything changed.
 */
bool ui_poll(struct ui *ui);

/*
 * Return a descriptor that becomes readable when ui_poll() may have
 * results; -1 if no thread is running.
 */
int ui_wake_fd(const struct ui *ui);

/* Return how often the screen must be redrawn without new data. */
uint64_t ui_redraw_interval_ns(const struct ui *ui);

/* Return true if all targets have ended, so that there is nothing more to read. */
bool ui_has_ended(const struct ui *ui);

/* Return the current context, as flags of keymap.h. */
unsigned int ui_context(const struct ui *ui);

void ui_key(struct ui *ui, uint32_t key);

enum mouse {
	MOUSE_CLICK,
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN
};
void ui_mouse(struct ui *ui, int x, int y, enum mouse what);

void ui_draw(struct ui *ui, struct canvas *c, uint64_t now_ns);

#define UI_WIDTH_MIN 40
#define UI_HEIGHT_MIN 10

/* Show a message in the second-to-last line of the screen. */
void ui_show_message(struct ui *ui, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void ui_set_view(struct ui *ui, enum view view);

/*
 * Return when to call ui_record() next. Samples of all targets are recorded
 * regardless of the view and of pausing.
 */
uint64_t ui_record_due_ns(const struct ui *ui);
void ui_record(struct ui *ui, uint64_t now_ns);

/* Replay: list the events of the recording. */
void ui_replay_init(struct ui *ui);
void ui_replay_release(struct ui *ui);
/*
 * Perform the action and return true if it concerns the
 * recording; otherwise return false.
 */
bool ui_replay_act(struct ui *ui, enum action action);
void ui_replay_refresh(struct ui *ui, uint64_t now_ns);
uint64_t ui_replay_due_ns(const struct ui *ui);
bool ui_replay_click(struct ui *ui, int x, int y);
/* Go to the time that the user typed. Returns false if the text is not a valid time. */
bool ui_replay_go_to(struct ui *ui, const char *text);
/* Draw the second line, which shows the position in the recording. */
void ui_replay_draw(struct ui *ui, struct canvas *c);

/* Read the heap if the process may be stopped; otherwise ask the user first. */
void ui_read_heap(struct ui *ui, unsigned int wishes);
/* Perform the action and return true if it concerns the heap; otherwise return false. */
bool ui_heap_act(struct ui *ui, enum action action);
void ui_show_heap(struct ui *ui); /* Call this function when the heap view is opened. */

/*
 * Return the current settings, in the syntax of the settings file. The caller
 * releases them.
 */
struct settings ui_settings(const struct ui *ui);

/* Open the cgroup that the user named, and show it first. */
void ui_begin_group(struct ui *ui);
/*
 * Perform the action and return true if it concerns the
 * group view; otherwise return false.
 */
bool ui_group_act(struct ui *ui, enum action action);
unsigned int ui_group_context(const struct ui *ui);
/* Read the cgroup if it is shown, or if another view needs it. */
void ui_refresh_group(struct ui *ui, bool is_shown, uint64_t now_ns);

/* Ask for the signal for the process under the cursor, or the selected process. */
void ui_ask_for_signal(struct ui *ui);
/* Use the signal that the user typed, and ask whether to send it. */
void ui_choose_signal(struct ui *ui);
/* Send the signal after the answer yes; ask again if the process is init or memstate. */
void ui_confirm_signal(struct ui *ui);
void ui_draw_signal_prompt(const struct ui *ui, struct pen *pen);

/* Open a prompt. While it is open, prompt_key() handles all keys. */
void prompt_open(struct ui *ui, enum prompt_kind kind);
void prompt_key(struct ui *ui, uint32_t key);
void prompt_release(struct prompt *prompt);
/* Return true if the prompt is a yes-or-no question. */
bool prompt_is_question(const struct prompt *prompt);
/* Return the filter and search text of the visible list, or NULL. */
struct selection *ui_selection(struct ui *ui);
/* Call this function after the filter or the data changed. */
void ui_update_view(struct ui *ui);
bool ui_search(struct ui *ui, int step);

/* Write the contents of the current view as text to a file. Returns 0 or -errno. */
int save_view(const struct ui *ui, const char *path);

#endif
