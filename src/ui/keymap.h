/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keymap - the table of keys. What a key does, what the help says and what the bar at the bottom
 * offers all come from it.
 */
#ifndef MS_UI_KEYMAP_H
#define MS_UI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys are code points; these are past the last one. */
enum key {
	KEY_NONE = 0,
	KEY_TAB = 9,
	KEY_RETURN = 13,
	KEY_ESCAPE = 27,
	KEY_ERASE = 127,
	KEY_ARROW_UP = 0x110000,
	KEY_ARROW_DOWN,
	KEY_ARROW_LEFT,
	KEY_ARROW_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_BACK_TAB,
	KEY_FUNCTION, /* + n: Fn */
	KEY_END_ = KEY_FUNCTION + 13,
};

#define KEY_CONTROL(letter) ((letter) & 0x1f)

/* Where a key works. */
enum context {
	IN_PROCESSES = 1 << 0,
	IN_PROCESS = 1 << 1,
	IN_MAPPINGS = 1 << 2,
	IN_HEAP = 1 << 3,
	IN_HELP = 1 << 4,
	IN_MENU = 1 << 5,
	IN_CHECKLIST = 1 << 6, /* a menu where several can be chosen */
	IN_PROMPT = 1 << 7,
	IN_QUESTION = 1 << 8, /* yes or no */
	IN_CGROUP = 1 << 9,

	IN_LISTS = IN_PROCESSES | IN_MAPPINGS,
	IN_PAGES = IN_LISTS | IN_HEAP | IN_CGROUP,
	IN_VIEWS = IN_PAGES | IN_PROCESS,
	IN_MENUS = IN_MENU | IN_CHECKLIST,
	/* and when */
	WHEN_MATCHING = 1 << 16, /* there is a search */
	WHEN_FILTERED = 1 << 17,
	WHEN_BELOW = 1 << 18, /* there is a level to go back to */
	WHEN_TAGGED = 1 << 19,
	WHEN_CHOSEN = 1 << 20,	 /* there is a process under the cursor */
	WHEN_READABLE = 1 << 21, /* it has a heap that could be read */
	WHEN_WAITING = 1 << 22,	 /* for the heap */
	WHEN_REPLAYED = 1 << 23, /* it is a recording */
	WHEN_EVENTFUL = 1 << 24, /* which has events */
	WHEN_MASK = WHEN_MATCHING | WHEN_FILTERED | WHEN_BELOW | WHEN_TAGGED | WHEN_CHOSEN |
		    WHEN_READABLE | WHEN_WAITING | WHEN_REPLAYED | WHEN_EVENTFUL,
};

enum action {
	ACTION_NONE,
	ACTION_HELP,
	ACTION_COLUMNS,
	ACTION_SEARCH,
	ACTION_FILTER,
	ACTION_TREE,
	ACTION_GROUP,
	ACTION_CELLS,
	ACTION_GRAPH,
	ACTION_SORT,
	ACTION_INVERT,
	ACTION_SAVE,
	ACTION_OPEN,
	ACTION_HEAP,
	ACTION_CGROUP,
	ACTION_READ,
	ACTION_LEAKS,
	ACTION_ASK,
	ACTION_STOP_WAITING,
	ACTION_BACK,
	ACTION_CLEAR_FILTER,
	ACTION_NEXT_VIEW,
	ACTION_PREVIOUS_VIEW,
	ACTION_TAG,
	ACTION_UNTAG,
	ACTION_NEXT_MATCH,
	ACTION_PREVIOUS_MATCH,
	ACTION_EARLIER, /* of a recording: the sample before */
	ACTION_LATER,
	ACTION_MUCH_EARLIER,
	ACTION_MUCH_LATER,
	ACTION_BEGINNING,
	ACTION_END,
	ACTION_GO_TO,
	ACTION_NEXT_EVENT,
	ACTION_PREVIOUS_EVENT,
	ACTION_PLAY,
	ACTION_PAUSE,
	ACTION_SLOWER,
	ACTION_FASTER,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HALF_UP,
	ACTION_HALF_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_LEFT,
	ACTION_RIGHT,
	ACTION_ACCEPT,
	ACTION_TOGGLE,
	ACTION_CANCEL,
	ACTION_ERASE,
	ACTION_ERASE_ALL,
	ACTION_REDRAW,
	ACTION_QUIT,
	ACTION_COUNT_,
};

#define KEYS_PER_ROW 4

struct key_row {
	uint32_t keys[KEYS_PER_ROW]; /* the first one is shown in the bar; KEY_NONE ends them */
	enum action action;
	unsigned int contexts; /* any of these, and all WHEN_ of them */
	const char *label;     /* in the bar; NULL: not there */
	const char *help;
};

extern const struct key_row key_rows[];
extern const size_t key_row_count;

/*
 * Rows that work in the same places. The views come first, and only they are on the help
 * screen.
 */
struct key_section {
	const char *title;
	unsigned int contexts; /* IN_ of views, or of what is over them; and WHEN_REPLAYED */
};

extern const struct key_section key_sections[];
extern const size_t key_section_count;

/* Each row is of one section: one that works in views is of those, wherever else it does. */
bool key_row_is_of(const struct key_row *row, const struct key_section *section);

/* True if the row works where `context` (one IN_ and all WHEN_ that hold) says we are. */
bool key_row_works(const struct key_row *row, unsigned int context);

enum action keymap_find(uint32_t key, unsigned int context);

/* "F1", "Enter", "^D", "k": at most 8 bytes and a NUL. Returns buf. */
#define KEY_NAME_SIZE 9
const char *keymap_format_key(uint32_t key, char buf[KEY_NAME_SIZE]);

/* The key of such a name, or KEY_NONE. */
uint32_t keymap_parse_key(const char *name);

#endif
