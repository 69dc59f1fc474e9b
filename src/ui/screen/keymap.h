/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keymap - the table of keys, which defines the actions of keys, the contents of the help
 * screen, and the key bar.
 */
#ifndef MS_UI_SCREEN_KEYMAP_H
#define MS_UI_SCREEN_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys are Unicode code points. Special keys have values above the last code point. */
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
	KEY_FUNCTION, /* base of the function keys: Fn is KEY_FUNCTION + n */
	KEY_END_ = KEY_FUNCTION + 13,
};

#define KEY_CONTROL(letter) ((letter)&0x1f)

/* The contexts in which a key works (IN_), and the conditions it requires (WHEN_). */
enum context {
	IN_PROCESSES = 1 << 0,
	IN_PROCESS = 1 << 1,
	IN_MAPPINGS = 1 << 2,
	IN_HEAP = 1 << 3,
	IN_HELP = 1 << 4,
	IN_MENU = 1 << 5,
	IN_CHECKLIST = 1 << 6, /* a menu with several choices */
	IN_PROMPT = 1 << 7,
	IN_QUESTION = 1 << 8, /* a yes-or-no question */
	IN_CGROUP = 1 << 9,

	IN_LISTS = IN_PROCESSES | IN_MAPPINGS,
	IN_PAGES = IN_LISTS | IN_HEAP | IN_CGROUP,
	IN_VIEWS = IN_PAGES | IN_PROCESS,
	/* contexts in which the key k moves the cursor up instead of sending a signal */
	IN_UP_BY_K = IN_MAPPINGS | IN_HEAP | IN_CGROUP,
	IN_MENUS = IN_MENU | IN_CHECKLIST,
	/* conditions that a key requires */
	WHEN_MATCHING = 1 << 16, /* the user has entered a search text */
	WHEN_FILTERED = 1 << 17,
	WHEN_BELOW = 1 << 18, /* there is a view to return to */
	WHEN_TAGGED = 1 << 19,
	WHEN_CHOSEN = 1 << 20,	 /* the cursor is on a process */
	WHEN_READABLE = 1 << 21, /* the process has a heap that memstate can read */
	WHEN_WAITING = 1 << 22,	 /* the user is waiting for a heap read */
	WHEN_REPLAYED = 1 << 23, /* a recording is shown */
	WHEN_EVENTFUL = 1 << 24, /* the recording contains events */
	WHEN_TREE = 1 << 25,	 /* the list of processes is shown as a tree */
	WHEN_LIVE = 1 << 26,	 /* the processes are running on this system */
	WHEN_MASK = WHEN_MATCHING | WHEN_FILTERED | WHEN_BELOW | WHEN_TAGGED |
		    WHEN_CHOSEN | WHEN_READABLE | WHEN_WAITING | WHEN_REPLAYED |
		    WHEN_EVENTFUL | WHEN_TREE | WHEN_LIVE,
};

enum action {
	ACTION_NONE,
	ACTION_HELP,
	ACTION_COLUMNS,
	ACTION_SEARCH,
	ACTION_FILTER,
	ACTION_USER,
	ACTION_TREE,
	ACTION_GROUP,
	ACTION_CELLS,
	ACTION_GRAPH,
	ACTION_THEME,
	ACTION_SORT,
	ACTION_INVERT,
	ACTION_SORT_RSS,
	ACTION_SORT_PSS,
	ACTION_SORT_START,
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
	ACTION_SIGNAL,
	ACTION_FOLLOW,
	ACTION_FOLD,
	ACTION_UNFOLD,
	ACTION_FOLD_ALL,
	ACTION_NEXT_MATCH,
	ACTION_PREVIOUS_MATCH,
	ACTION_EARLIER, /* replay: go to the previous sample */
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
	/*
	 * keys for the action, terminated by KEY_NONE unless all entries are used; the
	 * key bar shows the first key
	 */
	uint32_t keys[KEYS_PER_ROW];
	enum action action;
	/* IN_ contexts in which the keys work, and WHEN_ conditions that must all hold */
	unsigned int contexts;
	/* label in the key bar; NULL: the key bar omits the row */
	const char *label;
	const char *help;
};

extern const struct key_row key_rows[];
extern const size_t key_row_count;

/*
 * A group of rows in the key table that work in the same contexts. The sections for views
 * come first; the help screen shows only these.
 */
struct key_section {
	const char *title;
	/* IN_ flags of views, menus or prompts, optionally combined with WHEN_REPLAYED */
	unsigned int contexts;
};

extern const struct key_section key_sections[];
extern const size_t key_section_count;

/*
 * Return true if a row of the key table belongs to a section. Each row belongs to
 * exactly one section. A row that works both in views and elsewhere belongs to a
 * section for views.
 */
bool key_row_is_of(const struct key_row *row, const struct key_section *section);

/*
 * Return true if a row of the key table works in `context`, which contains one IN_ flag
 * and all WHEN_ flags whose conditions hold.
 */
bool key_row_works(const struct key_row *row, unsigned int context);

enum action keymap_find(uint32_t key, unsigned int context);

/*
 * Format the name of a key, such as "F1", "Enter", "^D" or "k". The name has at most 8
 * bytes and a NUL. Return buf.
 */
#define KEY_NAME_SIZE 9
const char *keymap_format_key(uint32_t key, char buf[KEY_NAME_SIZE]);

/* Return the key with the given name, or KEY_NONE. */
uint32_t keymap_parse_key(const char *name);

#endif
