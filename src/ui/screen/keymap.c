/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/keymap.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define FN(n) (KEY_FUNCTION + (n))

/*
 * The table of keys. The help screen and the key bar show the rows in this order. If
 * several rows use a key, the first row that works in the context has precedence.
 */
const struct key_row key_rows[] = {
	{ { FN(1), 'h', '?' }, ACTION_HELP, IN_VIEWS, "Help", "show this help" },
	{ { KEY_ARROW_LEFT, ',' },
	  ACTION_EARLIER,
	  IN_VIEWS | WHEN_REPLAYED,
	  "Earlier",
	  "go to the previous sample" },
	{ { KEY_ARROW_RIGHT, '.' },
	  ACTION_LATER,
	  IN_VIEWS | WHEN_REPLAYED,
	  "Later",
	  "go to the next sample" },
	{ { KEY_PAGE_UP },
	  ACTION_MUCH_EARLIER,
	  IN_VIEWS | WHEN_REPLAYED,
	  NULL,
	  "go back 60 samples" },
	{ { KEY_PAGE_DOWN },
	  ACTION_MUCH_LATER,
	  IN_VIEWS | WHEN_REPLAYED,
	  NULL,
	  "go forward 60 samples" },
	{ { KEY_FIRST },
	  ACTION_BEGINNING,
	  IN_VIEWS | WHEN_REPLAYED,
	  NULL,
	  "go to the first sample" },
	{ { KEY_LAST },
	  ACTION_END,
	  IN_VIEWS | WHEN_REPLAYED,
	  NULL,
	  "go to the last sample" },
	{ { '@' },
	  ACTION_GO_TO,
	  IN_VIEWS | WHEN_REPLAYED,
	  "Go to",
	  "go to a time: 08:15:30, +90s, -5m, or as for --at" },
	{ { 'e' },
	  ACTION_NEXT_EVENT,
	  IN_VIEWS | WHEN_REPLAYED | WHEN_EVENTFUL,
	  "Event",
	  "go to the sample before the next event (!), such as a kill" },
	{ { 'E' },
	  ACTION_PREVIOUS_EVENT,
	  IN_VIEWS | WHEN_REPLAYED | WHEN_EVENTFUL,
	  NULL,
	  "go to the sample before the previous event" },
	{ { 'p', 'Z' },
	  ACTION_PLAY,
	  IN_VIEWS | WHEN_REPLAYED,
	  "Play",
	  "play the samples, one per interval, or stop" },
	{ { KEY_RETURN },
	  ACTION_OPEN,
	  IN_PROCESSES | WHEN_CHOSEN,
	  "Open",
	  "open the process under the cursor" },
	{ { KEY_RETURN },
	  ACTION_OPEN,
	  IN_PROCESS,
	  "Mappings",
	  "list the mappings of the selected owner" },
	{ { 'H' },
	  ACTION_HEAP,
	  IN_PROCESS | WHEN_READABLE,
	  "Heap",
	  "open the heap; the process is paused briefly to read it" },
	{ { KEY_RETURN },
	  ACTION_OPEN,
	  IN_CGROUP | WHEN_CHOSEN,
	  "Open",
	  "open the process under the cursor" },
	{ { 'C' },
	  ACTION_CGROUP,
	  IN_PROCESSES | WHEN_CHOSEN,
	  NULL,
	  "show what uses the memory of the process's cgroup" },
	{ { FN(5), 'r' },
	  ACTION_READ,
	  IN_HEAP | WHEN_READABLE,
	  "Read",
	  "read the heap now; the process is paused briefly" },
	{ { 'l' },
	  ACTION_LEAKS,
	  IN_HEAP | WHEN_READABLE,
	  "Leaks",
	  "look for leaks; the process is paused to copy its memory" },
	{ { 'a' },
	  ACTION_ASK,
	  IN_HEAP | WHEN_READABLE,
	  "Ask",
	  "query the allocator with a helper, after confirmation" },
	{ { KEY_ESCAPE },
	  ACTION_STOP_WAITING,
	  IN_HEAP | WHEN_WAITING,
	  "Cancel",
	  "stop waiting for the heap" },
	{ { KEY_ESCAPE },
	  ACTION_CLEAR_FILTER,
	  IN_LISTS | WHEN_FILTERED,
	  "Unfilter",
	  "show everything again" },
	{ { KEY_ESCAPE },
	  ACTION_BACK,
	  IN_VIEWS | WHEN_BELOW,
	  "Back",
	  "go back one "
	  "level" },
	{ { KEY_ESCAPE, KEY_RETURN, 'q', FN(1) },
	  ACTION_CANCEL,
	  IN_HELP,
	  "Back",
	  "leave the help" },
	{ { '?', 'h' }, ACTION_CANCEL, IN_HELP, NULL, "leave the help" },
	{ { KEY_TAB },
	  ACTION_NEXT_VIEW,
	  IN_VIEWS | WHEN_CHOSEN,
	  "View",
	  "next view: processes, process, mappings, heap, group" },
	{ { KEY_BACK_TAB },
	  ACTION_PREVIOUS_VIEW,
	  IN_VIEWS | WHEN_CHOSEN,
	  NULL,
	  "previous view" },
	{ { FN(2), 'S' }, ACTION_COLUMNS, IN_LISTS, "Columns", "choose columns" },
	{ { FN(3), '/' }, ACTION_SEARCH, IN_LISTS, "Search", "search as you type" },
	{ { 'n' }, ACTION_NEXT_MATCH, IN_LISTS | WHEN_MATCHING, NULL, "next match" },
	{ { 'N' },
	  ACTION_PREVIOUS_MATCH,
	  IN_LISTS | WHEN_MATCHING,
	  NULL,
	  "previous match" },
	{ { FN(4), '\\' },
	  ACTION_FILTER,
	  IN_LISTS,
	  "Filter",
	  "show only lines containing these words; | separates alternatives" },
	{ { 'u' }, ACTION_USER, IN_PROCESSES, "User", "show only processes of one user" },
	{ { FN(5), 't' },
	  ACTION_TREE,
	  IN_PROCESSES,
	  "Tree",
	  "show children below their parents" },
	{ { '-' },
	  ACTION_FOLD,
	  IN_PROCESSES | WHEN_TREE,
	  "Fold",
	  "in the tree: hide the children of a process, or of its parent" },
	{ { '+', '=' },
	  ACTION_UNFOLD,
	  IN_PROCESSES | WHEN_TREE,
	  "Unfold",
	  "in the tree: show the children again" },
	{ { '*' },
	  ACTION_FOLD_ALL,
	  IN_PROCESSES | WHEN_TREE,
	  NULL,
	  "in the tree: show all processes, or only two levels" },
	{ { FN(5), 't' },
	  ACTION_GROUP,
	  IN_MAPPINGS,
	  "Group",
	  "group by file, by owner, or not at all" },
	{ { FN(5), 'c' },
	  ACTION_CELLS,
	  IN_PROCESS,
	  "Cells",
	  "show amounts, changes since the start, or per second" },
	{ { 'b' },
	  ACTION_GRAPH,
	  IN_PROCESS,
	  NULL,
	  "draw graphs with dots, or with "
	  "blocks" },
	{ { 'C' },
	  ACTION_CGROUP,
	  IN_PROCESS,
	  "Group",
	  "show what uses the memory of the process's cgroup" },
	{ { FN(6), '<', '>', 's' },
	  ACTION_SORT,
	  IN_LISTS,
	  "Sort",
	  "choose the sort column; choose it again to reverse" },
	{ { 'M' }, ACTION_SORT_RSS, IN_PROCESSES, NULL, "sort by Rss" },
	{ { 'P' }, ACTION_SORT_PSS, IN_PROCESSES, NULL, "sort by Pss" },
	{ { 'T' }, ACTION_SORT_START, IN_PROCESSES, NULL, "sort by start time" },
	{ { 'I' }, ACTION_INVERT, IN_LISTS, NULL, "reverse the sort order" },
	{ { FN(7), 'w' },
	  ACTION_SAVE,
	  IN_VIEWS,
	  "Save",
	  "save the current view to a text file" },
	{ { ' ' },
	  ACTION_TAG,
	  IN_PROCESSES | WHEN_CHOSEN,
	  NULL,
	  "tag a process; the sums then cover only tagged processes" },
	{ { 'F' },
	  ACTION_FOLLOW,
	  IN_PROCESSES | WHEN_CHOSEN,
	  NULL,
	  "follow the process with the cursor when the order changes" },
	{ { 'U' }, ACTION_UNTAG, IN_PROCESSES | WHEN_TAGGED, "Untag", "untag all" },
	{ { FN(9), 'k' },
	  ACTION_SIGNAL,
	  IN_PROCESSES | WHEN_CHOSEN | WHEN_LIVE,
	  "Kill",
	  "send a signal to the process under the cursor, after confirmation" },
	{ { FN(9), 'k' },
	  ACTION_SIGNAL,
	  IN_PROCESS | WHEN_LIVE,
	  "Kill",
	  "send the process a signal, after confirmation" },
	{ { 'Z' }, ACTION_PAUSE, IN_VIEWS, "Pause", "pause or resume reading" },
	{ { '+', ')' }, ACTION_SLOWER, IN_VIEWS, NULL, "longer interval" },
	{ { '-', '(' }, ACTION_FASTER, IN_VIEWS, NULL, "shorter interval" },
	{ { 'L' }, ACTION_THEME, IN_VIEWS, NULL, "next theme: dark, light, mono" },
	{ { KEY_ARROW_UP, KEY_CONTROL('P') },
	  ACTION_UP,
	  IN_VIEWS | IN_HELP | IN_MENUS,
	  NULL,
	  "up" },
	{ { 'k' }, ACTION_UP, IN_UP_BY_K | IN_HELP | IN_MENUS, NULL, "up" },
	{ { KEY_ARROW_DOWN, 'j', KEY_CONTROL('N') },
	  ACTION_DOWN,
	  IN_VIEWS | IN_HELP | IN_MENUS,
	  NULL,
	  "down" },
	{ { KEY_PAGE_UP, KEY_CONTROL('B') },
	  ACTION_PAGE_UP,
	  IN_PAGES | IN_HELP | IN_MENUS,
	  NULL,
	  "a page up" },
	{ { KEY_PAGE_DOWN, KEY_CONTROL('F') },
	  ACTION_PAGE_DOWN,
	  IN_PAGES | IN_MENUS,
	  NULL,
	  "a page down" },
	{ { KEY_PAGE_DOWN, KEY_CONTROL('F') },
	  ACTION_PAGE_DOWN,
	  IN_HELP,
	  "More",
	  "a page down" },
	{ { KEY_CONTROL('U') },
	  ACTION_HALF_UP,
	  IN_PAGES | IN_HELP | IN_MENUS,
	  NULL,
	  "half a page up" },
	{ { KEY_CONTROL('D') },
	  ACTION_HALF_DOWN,
	  IN_PAGES | IN_HELP | IN_MENUS,
	  NULL,
	  "half a page down" },
	{ { KEY_FIRST, 'g' },
	  ACTION_FIRST,
	  IN_PAGES | IN_HELP | IN_MENUS,
	  NULL,
	  "go to the first line, and stay there as the order changes" },
	{ { KEY_LAST, 'G' },
	  ACTION_LAST,
	  IN_PAGES | IN_HELP | IN_MENUS,
	  NULL,
	  "go to the last line" },
	{ { KEY_ARROW_LEFT, '[' }, ACTION_LEFT, IN_LISTS, NULL, "columns to the left" },
	{ { KEY_ARROW_RIGHT, ']' },
	  ACTION_RIGHT,
	  IN_LISTS,
	  NULL,
	  "columns to the right" },
	{ { KEY_ARROW_LEFT, '[' }, ACTION_LEFT, IN_HEAP, NULL, "previous part" },
	{ { KEY_ARROW_RIGHT, ']' }, ACTION_RIGHT, IN_HEAP, "Next part", "next part" },
	{ { KEY_RETURN },
	  ACTION_ACCEPT,
	  IN_MENUS,
	  "Choose",
	  "choose the selected entry" },
	{ { ' ' }, ACTION_TOGGLE, IN_CHECKLIST, "Show/hide", "show or hide the column" },
	{ { KEY_ESCAPE, 'q' }, ACTION_CANCEL, IN_MENUS, "Cancel", "cancel" },
	{ { KEY_RETURN }, ACTION_ACCEPT, IN_PROMPT, "Done", "accept the text" },
	{ { KEY_ESCAPE }, ACTION_CANCEL, IN_PROMPT, "Cancel", "cancel" },
	{ { 'y', 'Y' }, ACTION_ACCEPT, IN_QUESTION, "Yes", "yes" },
	{ { 'n', 'N', KEY_ESCAPE, 'q' }, ACTION_CANCEL, IN_QUESTION, "No", "no" },
	{ { KEY_ERASE, KEY_CONTROL('H') },
	  ACTION_ERASE,
	  IN_PROMPT,
	  NULL,
	  "erase a character" },
	{ { KEY_CONTROL('U') }, ACTION_ERASE_ALL, IN_PROMPT, "Erase", "erase the line" },
	{ { FN(3) }, ACTION_NEXT_MATCH, IN_PROMPT | WHEN_MATCHING, "Next", "next match" },
	{ { KEY_CONTROL('L') },
	  ACTION_REDRAW,
	  IN_VIEWS | IN_HELP | IN_MENUS | IN_PROMPT | IN_QUESTION,
	  NULL,
	  "redraw the screen" },
	{ { FN(10), 'q' }, ACTION_QUIT, IN_VIEWS, "Quit", "quit" },
	{ { FN(10) },
	  ACTION_QUIT,
	  IN_HELP | IN_MENUS | IN_PROMPT | IN_QUESTION,
	  "Quit",
	  "quit" },
};

const size_t key_row_count = sizeof(key_rows) / sizeof(key_rows[0]);

const struct key_section key_sections[] = {
	{ "everywhere", IN_VIEWS },
	{ "a recording", IN_VIEWS | WHEN_REPLAYED },
	{ "processes, mappings, heap and group", IN_PAGES },
	{ "mappings, heap and group", IN_UP_BY_K },
	{ "processes and mappings", IN_LISTS },
	{ "processes", IN_PROCESSES },
	{ "one process", IN_PROCESS },
	{ "mappings", IN_MAPPINGS },
	{ "heap", IN_HEAP },
	{ "group", IN_CGROUP },
	{ "help", IN_HELP },
	{ "menus", IN_MENUS },
	{ "menu of columns", IN_CHECKLIST },
	{ "while typing a text", IN_PROMPT },
	{ "questions", IN_QUESTION },
	{ "help, menus, text input, and questions",
	  IN_HELP | IN_MENUS | IN_PROMPT | IN_QUESTION },
};

const size_t key_section_count = sizeof(key_sections) / sizeof(key_sections[0]);

bool key_row_is_of(const struct key_row *row, const struct key_section *section)
{
	unsigned int places = row->contexts & ~(unsigned int)WHEN_MASK;
	unsigned int when = row->contexts & WHEN_REPLAYED;

	return ((places & IN_VIEWS ? places & IN_VIEWS : places) | when) ==
	       section->contexts;
}

bool key_row_works(const struct key_row *row, unsigned int context)
{
	unsigned int when = row->contexts & WHEN_MASK;

	return (row->contexts & context & ~(unsigned int)WHEN_MASK) &&
	       (context & when) == when;
}

static bool has_key(const struct key_row *row, uint32_t key)
{
	for (size_t i = 0; i < KEYS_PER_ROW && row->keys[i] != KEY_NONE; i++)
		if (row->keys[i] == key)
			return true;
	return false;
}

enum action keymap_find(uint32_t key, unsigned int context)
{
	for (size_t i = 0; i < key_row_count; i++)
		if (has_key(&key_rows[i], key) && key_row_works(&key_rows[i], context))
			return key_rows[i].action;
	return ACTION_NONE;
}

static const struct {
	uint32_t key;
	const char *name;
} key_names[] = {
	{ ' ', "Space" },
	{ KEY_TAB, "Tab" },
	{ KEY_RETURN, "Enter" },
	{ KEY_ESCAPE, "Esc" },
	{ KEY_ERASE, "Bksp" },
	{ KEY_ARROW_UP, "Up" },
	{ KEY_ARROW_DOWN, "Down" },
	{ KEY_ARROW_LEFT, "Left" },
	{ KEY_ARROW_RIGHT, "Right" },
	{ KEY_PAGE_UP, "PgUp" },
	{ KEY_PAGE_DOWN, "PgDn" },
	{ KEY_FIRST, "Home" },
	{ KEY_LAST, "End" },
	{ KEY_BACK_TAB, "S-Tab" },
};

const char *keymap_format_key(uint32_t key, char buf[KEY_NAME_SIZE])
{
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++)
		if (key_names[i].key == key) {
			snprintf(buf, KEY_NAME_SIZE, "%s", key_names[i].name);
			return buf;
		}
	if (key > KEY_FUNCTION && key < KEY_END_)
		snprintf(buf, KEY_NAME_SIZE, "F%u", (key - KEY_FUNCTION) % 100);
	else if (key < ' ')
		snprintf(buf, KEY_NAME_SIZE, "^%c", (int)(key | 0x40));
	else
		snprintf(buf, KEY_NAME_SIZE, "%c", (int)(key & 0x7f));
	return buf;
}

uint32_t keymap_parse_key(const char *name)
{
	char buf[KEY_NAME_SIZE];
	uint32_t code_point;

	if (text_utf8_next(name, strlen(name), &code_point) == strlen(name))
		return code_point;
	for (uint32_t key = 1; key < 0x80; key++)
		if (strcmp(keymap_format_key(key, buf), name) == 0)
			return key;
	for (uint32_t key = KEY_ARROW_UP; key < KEY_END_; key++)
		if (strcmp(keymap_format_key(key, buf), name) == 0)
			return key;
	return KEY_NONE;
}
