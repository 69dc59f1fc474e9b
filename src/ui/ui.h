/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ui - the screen: its state, what keys do to it, and how it is drawn. All but ui_run()
 * works without a terminal.
 */
#ifndef MS_UI_UI_H
#define MS_UI_UI_H

#include "ui/data.h"
#include "ui/menu.h"
#include "ui/view.h"

struct recorder;
struct replay;

struct ui_options {
	struct sampler *sampler;
	struct targets *targets;
	uint64_t interval_ns;
	unsigned int max_share_per_mille;
	bool exact_bytes;
	bool is_live;	  /* false: a captured tree, which is read once, or a recording */
	struct replay *replay; /* that recording, or NULL */
	size_t replay_index;   /* the sample to be shown first */
	struct recorder *recorder; /* what the targets do is recorded; or NULL */
	/* their group as it is now, to be recorded too; or NULL: it cannot be read */
	const struct cgroup *(*read_recorded_group)(void *context);
	const struct procfs *procfs;	   /* for groups */
	const struct cgroup_target *group; /* whose view comes first; NULL: none was named */
	const struct procfs *fs; /* for heaps; NULL: they are not to be read */
	/*
	 * longest stops of a process for its heap: when somebody asks for it, and without
	 * being asked
	 */
	uint64_t max_pause_ns, auto_pause_ns;
	bool no_stop; /* read it while the process runs on */
	bool may_run; /* the same, where the stop would be longer than auto_pause_ns */
	/*
	 * ask the allocators of processes that were named, by helpers; and: one may be
	 * put into these
	 */
	bool asks_helper, may_inject;
	const char *sort; /* as -s takes it, and right; NULL: the default */

	/* A command that memstate runs, or all NULL and -1. */
	const char *command;
	bool (*command_has_ended)(void *context);
	void (*drain_output)(void *context); /* read what output_fd has; may be NULL */
	int output_fd;			     /* to be waited for; -1: none */
	void *context;
};

/* True if standard input and output are a terminal, of a type that can show a screen. */
bool ui_can_run(void);

/*
 * Show the screen until the user leaves it. Returns 0, the number of the signal that
 * ended it (INT, TERM, HUP), or -errno. The terminal is as it was before, whatever
 * happens. INT, TERM, HUP and CHLD must be held back by the caller.
 */
int ui_run(const struct ui_options *options);

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
	PROMPT_SAVE,
	PROMPT_MOMENT, /* where to go in a recording */
	PROMPT_STOP, /* may the process be stopped for its heap? Yes or no */
	PROMPT_HELPER, /* and may a helper be put into it? */
	PROMPT_COUNT_
};

struct prompt {
	enum prompt_kind kind;
	struct strbuf text;
	char *before; /* what it was, for Esc; owned */
	bool is_confirmed; /* the file is there, and was asked about */
	unsigned int wishes; /* for the heap, if the process may be stopped */
};

#define BAR_ENTRIES_MAX 16

struct bar_entry {
	int x, end;
	uint32_t key;
};

struct replay_event {
	size_t index; /* of the last sample before it */
	char *text;
};

struct ui {
	const struct ui_options *options;
	struct data data;
	enum view view;
	enum view view_before_help;
	enum view view_before_group; /* VIEW_CGROUP: it was the first one */
	bool is_from_group;	     /* the one process was opened there */
	struct processes_view processes;
	struct process_view process;
	struct mappings_view mappings;
	struct heap_view heap;
	struct group_view group;
	struct list help;
	struct menu menu;
	struct prompt prompt;
	char message[160]; /* one line, until the next key; "": none */
	uint64_t interval_ns;
	uint64_t due_ns; /* when the next refresh is */
	bool wants_refresh;
	bool is_paused;
	bool is_playing; /* a recording, a sample each interval */
	bool wants_redraw; /* of what the terminal shows, from scratch */
	bool has_quit;
	struct replay_event *events; /* of a recording, by time */
	uint64_t record_due_ns; /* when the next sample is to be recorded */
	size_t event_count, event_capacity;
	size_t event_shown; /* whose text was shown last */
	struct bar_entry bar[BAR_ENTRIES_MAX];
	size_t bar_count;
	int bar_y;
	int width; /* of what was drawn last */
};

void ui_init(struct ui *ui, const struct ui_options *options);
void ui_release(struct ui *ui);

/* Read what the screen shows now, and say when the next read is due. */
void ui_refresh(struct ui *ui, uint64_t now_ns);

/* When to call ui_refresh() next; UINT64_MAX: not before something happens. */
uint64_t ui_due_ns(const struct ui *ui);

/*
 * Take what threads have found, and begin what is wanted of them. True if there is
 * something new.
 */
bool ui_poll(struct ui *ui);

/* Readable when there may be something; -1: nothing will be. */
int ui_wake_fd(const struct ui *ui);

/* How often what is shown changes by itself. */
uint64_t ui_redraw_interval_ns(const struct ui *ui);

/* All targets have ended: there is nothing more to read. */
bool ui_has_ended(const struct ui *ui);

/* Which keys work now, as keymap.h takes it. */
unsigned int ui_context(const struct ui *ui);

void ui_key(struct ui *ui, uint32_t key);

enum mouse { MOUSE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };
void ui_mouse(struct ui *ui, int x, int y, enum mouse what);

void ui_draw(struct ui *ui, struct canvas *c, uint64_t now_ns);

#define UI_WIDTH_MIN  40
#define UI_HEIGHT_MIN 10

/* Say something in the last line but one. */
void ui_say(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

void ui_set_view(struct ui *ui, enum view view);

/*
 * What is recorded, in ui_record.c: samples of all targets, whatever is shown, paused or
 * not.
 */
uint64_t ui_record_due_ns(const struct ui *ui);
void ui_record(struct ui *ui, uint64_t now_ns);

/* A recording, in ui_replay.c: where in it, by keys, by itself, and by the mouse. */
void ui_replay_init(struct ui *ui);
void ui_replay_release(struct ui *ui);
bool ui_replay_act(struct ui *ui, enum action action); /* true if it was one of these */
void ui_replay_refresh(struct ui *ui, uint64_t now_ns);
uint64_t ui_replay_due_ns(const struct ui *ui);
bool ui_replay_click(struct ui *ui, int x, int y);
/* What a person typed. False: it is no time. */
bool ui_replay_go_to(struct ui *ui, const char *text);
/* The line below the first: where in the recording this is. */
void ui_replay_draw(struct ui *ui, struct canvas *c);

/* The heap, in ui_heap.c: read it, if the process may be stopped for that; or ask first. */
void ui_read_heap(struct ui *ui, unsigned int wishes);
bool ui_heap_act(struct ui *ui, enum action action); /* true if it was one of these */
void ui_show_heap(struct ui *ui); /* the view was opened */

/* The group, in ui_group.c: the one that was named is shown first. */
void ui_begin_group(struct ui *ui);
bool ui_group_act(struct ui *ui, enum action action); /* true if it was one of these */
unsigned int ui_group_context(const struct ui *ui);
/* Read it, if it is shown or wanted all the same. */
void ui_refresh_group(struct ui *ui, bool is_shown, uint64_t now_ns);

/* Prompts, in prompt.c: a key while one is open. */
void prompt_open(struct ui *ui, enum prompt_kind kind);
void prompt_key(struct ui *ui, uint32_t key);
void prompt_release(struct prompt *prompt);
bool prompt_is_question(const struct prompt *prompt); /* yes or no */
struct selection *ui_selection(struct ui *ui); /* of the list that is shown, or NULL */
void ui_update_view(struct ui *ui);	       /* after a change of filter or data */
bool ui_search(struct ui *ui, int step);

/* What the view shows, as text, into a file. Returns 0 or -errno. */
int save_view(const struct ui *ui, const char *path);

#endif
