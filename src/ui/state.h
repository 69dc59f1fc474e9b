/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state - the state of the user interface, how keys change it, and how it is drawn.
 * Nothing in this header requires a terminal.
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
	PROMPT_USER, /* asks for the user whose processes will be shown */
	PROMPT_SAVE,
	PROMPT_MOMENT, /* asks for the time of the recorded sample to show */
	PROMPT_STOP,   /* asks whether to stop the process to read its heap */
	PROMPT_HELPER, /* asks whether to inject a helper into the process */
	PROMPT_SIGNAL, /* asks for the signal to send */
	PROMPT_SEND,   /* asks whether to send the signal */
	/*
	 * asks the user to type the pid of init or memstate itself, to
	 * confirm a signal to it
	 */
	PROMPT_SEND_AGAIN,
	PROMPT_COUNT_
};

struct prompt {
	enum prompt_kind kind;
	struct strbuf text;
	char *before; /* text that Esc restores; owned by the prompt */
	/* true if the text is a suggestion, which the first key replaces */
	bool is_suggestion;
	/* true if the user was warned that the file exists, so Enter overwrites it */
	bool is_confirmed;
	/* enum heap_wish flags of the heap read that starts after the answer yes */
	unsigned int wishes;
	struct process process; /* process that will receive the signal */
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
	/*
	 * view to which the group view returns; VIEW_CGROUP: memstate began with
	 * the group view
	 */
	enum view view_before_group;
	bool is_from_group; /* true if the process was opened from the group view */
	struct processes_view processes;
	struct process_view process;
	struct mappings_view mappings;
	struct heap_view heap;
	struct group_view group;
	struct list help;
	struct menu menu;
	struct prompt prompt;
	/* one-line message, shown until the next key press; "": no message */
	char message[160];
	enum theme theme;
	uint64_t interval_ns;
	uint64_t due_ns; /* time at which the next refresh is due */
	bool wants_refresh;
	bool is_paused;
	bool is_playing;   /* replay: true to advance one sample per interval */
	bool wants_redraw; /* true to repaint the whole terminal */
	bool has_quit;
	struct replay_event *events; /* replay: events in chronological order */
	uint64_t record_due_ns;	     /* time at which to record the next sample */
	size_t event_count, event_capacity;
	size_t event_shown; /* index of the event shown last */
	struct bar_entry bar[BAR_ENTRIES_MAX];
	size_t bar_count;
	int bar_y;
	int width; /* width of the screen when last drawn */
};

void ui_init(struct ui *ui, const struct ui_options *options);
void ui_release(struct ui *ui);

/* Read the data for the current view, and compute the time of the next refresh. */
void ui_refresh(struct ui *ui, uint64_t now_ns);

/*
 * Return the time at which to call ui_refresh() next, or UINT64_MAX to call it only after
 * an event.
 */
uint64_t ui_due_ns(const struct ui *ui);

/*
 * Collect the results of finished threads, and start the requested work. Return true if
 * anything has changed.
 */
bool ui_poll(struct ui *ui);

/*
 * Return a descriptor that becomes readable when ui_poll() may have results, or -1 if no
 * thread is running.
 */
int ui_wake_fd(const struct ui *ui);

/* Return the interval at which to redraw the screen even without new data. */
uint64_t ui_redraw_interval_ns(const struct ui *ui);

/* Return true if all targets have ended, so nothing more can be read. */
bool ui_has_ended(const struct ui *ui);

/* Return the current context, as flags defined in keymap.h. */
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
 * Return the time at which to call ui_record() next. Samples of all targets are recorded
 * in every view, and even while the screen is paused.
 */
uint64_t ui_record_due_ns(const struct ui *ui);
void ui_record(struct ui *ui, uint64_t now_ns);

/* List the events of the recording, if there is one. */
void ui_replay_init(struct ui *ui);
void ui_replay_release(struct ui *ui);
/* Perform an action if it concerns the recording; otherwise return false. */
bool ui_replay_act(struct ui *ui, enum action action);
void ui_replay_refresh(struct ui *ui, uint64_t now_ns);
uint64_t ui_replay_due_ns(const struct ui *ui);
bool ui_replay_click(struct ui *ui, int x, int y);
/*
 * Show the sample at the time that the user typed. Return false if the text is not a
 * valid time.
 */
bool ui_replay_go_to(struct ui *ui, const char *text);
/* Draw the second line of the screen, which shows the position in the recording. */
void ui_replay_draw(struct ui *ui, struct canvas *c);

/* Read the heap if memstate may stop the process. Otherwise ask the user first. */
void ui_read_heap(struct ui *ui, unsigned int wishes);
/* Perform an action if it concerns the heap; otherwise return false. */
bool ui_heap_act(struct ui *ui, enum action action);
/* Prepare the heap view. The caller must call this function when the view is opened. */
void ui_show_heap(struct ui *ui);

/*
 * Return the current settings, in the syntax of the settings file. The caller releases
 * the result.
 */
struct settings ui_settings(const struct ui *ui);

/* Open the cgroup that the user named, and begin with the group view. */
void ui_begin_group(struct ui *ui);
/*
 * Perform an action if it opens the group view, leads out of it, or leads back to it;
 * otherwise return false.
 */
bool ui_group_act(struct ui *ui, enum action action);
unsigned int ui_group_context(const struct ui *ui);
/* Read the cgroup if it is on the screen or another view needs it. */
void ui_refresh_group(struct ui *ui, bool is_shown, uint64_t now_ns);

/*
 * Ask for the signal to send to the process under the cursor, or to the selected process.
 */
void ui_ask_for_signal(struct ui *ui);
/* Use the signal that the user typed, and ask whether to send it. */
void ui_choose_signal(struct ui *ui);
/*
 * Send the signal after the user has answered yes. If the process is init or memstate
 * itself, ask the user to type its pid first.
 */
void ui_confirm_signal(struct ui *ui);
void ui_draw_signal_prompt(const struct ui *ui, struct pen *pen);

/* Open a prompt. While a prompt is open, prompt_key() handles all keys. */
void prompt_open(struct ui *ui, enum prompt_kind kind);
void prompt_key(struct ui *ui, uint32_t key);
void prompt_release(struct prompt *prompt);
/* Return true if the open prompt is a yes-or-no question. */
bool prompt_is_question(const struct prompt *prompt);
/*
 * Return the filter and the search text of the list on the screen, or NULL if there is
 * no list.
 */
struct selection *ui_selection(struct ui *ui);
/* Update the visible rows after the filter or the data has changed. */
void ui_update_view(struct ui *ui);
bool ui_search(struct ui *ui, int step);

/* Write the contents of the current view to a text file. Return 0 or -errno. */
int save_view(const struct ui *ui, const char *path);

#endif
