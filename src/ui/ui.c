/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/data/replay.h"
#include "ui/screen/theme.h"

#define VISIBLE_MAX 512
#define WHEEL_LINES 3

/* refresh intervals that the user can choose with the keys + and - */
static const uint64_t intervals_ns[] = {
	100 * NS_PER_MS, 200 * NS_PER_MS, 500 * NS_PER_MS, NS_PER_S,	  2 * NS_PER_S,
	5 * NS_PER_S,	 10 * NS_PER_S,	  30 * NS_PER_S,   60 * NS_PER_S, 300 * NS_PER_S,
};

void ui_init(struct ui *ui, const struct ui_options *options)
{
	memset(ui, 0, sizeof(*ui));
	ui->options = options;
	ui->interval_ns = options->interval_ns;
	ui->theme = options->theme;
	ui->wants_refresh = true;
	data_init(&ui->data, options);
	processes_init(&ui->processes, &ui->data, options->sort, options->exact_bytes);
	process_init(&ui->process, &ui->data, options->exact_bytes);
	if (options->columns)
		grid_set_columns(&ui->processes.grid, options->columns);
	ui->processes.is_tree = options->is_tree;
	mappings_init(&ui->mappings, &ui->data, options->exact_bytes);
	heap_view_init(&ui->heap, &ui->data, options->exact_bytes);
	group_view_init(&ui->group, &ui->data, options->exact_bytes);
	ui_replay_init(ui);
	ui_begin_group(ui);
	if (options->notice)
		ui_show_message(ui, "%s", options->notice);
}

void ui_release(struct ui *ui)
{
	prompt_release(&ui->prompt);
	ui_replay_release(ui);
	group_view_release(&ui->group);
	mappings_release(&ui->mappings);
	processes_release(&ui->processes);
	data_release(&ui->data);
}

void ui_show_message(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ui->message, sizeof(ui->message), format, args);
	va_end(args);
}

/* Return the current view or, while the help screen is open, the view behind it. */
static enum view data_view(const struct ui *ui)
{
	return ui->view == VIEW_HELP ? ui->view_before_help : ui->view;
}

/* Return true if the view shows the selected process. */
static bool shows_detail(const struct ui *ui)
{
	enum view view = data_view(ui);

	return view != VIEW_PROCESSES && view != VIEW_CGROUP;
}

struct selection *ui_selection(struct ui *ui)
{
	if (ui->view == VIEW_PROCESSES)
		return &ui->processes.selection;
	return ui->view == VIEW_MAPPINGS ? &ui->mappings.selection : NULL;
}

void ui_update_view(struct ui *ui)
{
	if (data_view(ui) == VIEW_PROCESSES) {
		processes_update(&ui->processes);
	} else if (data_view(ui) == VIEW_CGROUP) {
		group_view_update(&ui->group);
	} else {
		process_update(&ui->process);
		mappings_update(&ui->mappings);
	}
}

bool ui_search(struct ui *ui, int step)
{
	if (ui->view == VIEW_PROCESSES)
		return processes_search(&ui->processes, step);
	return ui->view == VIEW_MAPPINGS && mappings_search(&ui->mappings, step);
}

bool ui_has_ended(const struct ui *ui)
{
	const struct data *d = &ui->data;

	if (data_is_replayed(d))
		return false;
	if (d->has_ended)
		return true;
	/* if the target is a cgroup, new processes may start in it */
	return d->detail_has_ended && !targets_are_all(ui->options->targets) &&
	       !ui->options->targets->group && d->processes->count <= 1;
}

void ui_set_view(struct ui *ui, enum view view)
{
	ui->view = view;
	ui->wants_refresh = true;
	ui_update_view(ui);
	if (view == VIEW_HEAP)
		ui_show_heap(ui);
}

/* Select the process under the cursor. Return false if no process is there. */
static bool open_chosen(struct ui *ui)
{
	const struct usage *u = processes_chosen(&ui->processes);

	if (!u)
		return ui->data.detail_pid != 0;
	data_open(&ui->data, &u->process);
	return true;
}

/* If the target is a single process, show it instead of the list. */
static void open_only_target(struct ui *ui)
{
	const struct targets *t = ui->options->targets;

	if (t->with_children || t->pid_count != 1 || t->name_count > 0 ||
	    ui->processes.count != 1 || !open_chosen(ui))
		return;
	ui->view = VIEW_PROCESS;
	data_refresh_detail(&ui->data, ui->interval_ns);
	ui_update_view(ui);
}

static void refresh_processes(struct ui *ui)
{
	int pids[VISIBLE_MAX];
	bool is_first = ui->data.taken_ns == 0;
	size_t count = processes_visible(&ui->processes, VISIBLE_MAX, pids);

	data_refresh_processes(&ui->data, processes_needs(&ui->processes), pids, count);
	ui_update_view(ui);
	if (is_first)
		open_only_target(ui);
}

static bool is_detail_due(const struct ui *ui, uint64_t now_ns)
{
	const struct usage *u = data_detail(&ui->data);

	return data_is_replayed(&ui->data) || !u ||
	       now_ns >= u->taken_ns + data_detail_interval_ns(&ui->data, 0);
}

void ui_refresh(struct ui *ui, uint64_t now_ns)
{
	uint64_t interval_ns = ui->interval_ns;

	if (data_is_replayed(&ui->data))
		ui_replay_refresh(ui, now_ns);
	if (data_view(ui) == VIEW_PROCESSES) {
		refresh_processes(ui);
	} else if (shows_detail(ui) && is_detail_due(ui, now_ns)) {
		data_refresh_detail(&ui->data,
				    data_detail_interval_ns(&ui->data, interval_ns));
		ui_update_view(ui);
	}
	ui_refresh_group(ui, data_view(ui) == VIEW_CGROUP, now_ns);
	if (shows_detail(ui))
		interval_ns = data_detail_interval_ns(&ui->data, interval_ns);
	if (shows_detail(ui) && data_heap_due_ns(&ui->data, ui->interval_ns) <= now_ns)
		data_heap_read(&ui->data, data_view(ui) == VIEW_HEAP ? HEAP_DETAIL : 0);
	ui->data.is_slowed = interval_ns > ui->interval_ns;
	ui->wants_refresh = false;
	/* keep the schedule of refreshes, unless the next refresh is already overdue */
	ui->due_ns += interval_ns;
	if (ui->due_ns <= now_ns || ui->due_ns > now_ns + interval_ns)
		ui->due_ns = now_ns + interval_ns;
}

uint64_t ui_due_ns(const struct ui *ui)
{
	bool is_unread = shows_detail(ui) ? !data_detail(&ui->data)
					  : data_view(ui) == VIEW_CGROUP &&
						    !ui->data.group.is_read;

	if (data_is_replayed(&ui->data))
		return ui_replay_due_ns(ui);
	if (ui_has_ended(ui))
		return UINT64_MAX;
	/* even while the screen is paused, read data that has not been read yet */
	if (ui->wants_refresh && (!ui->is_paused || is_unread))
		return 0;
	return ui->is_paused || !ui->options->is_live ? UINT64_MAX : ui->due_ns;
}

static unsigned int list_context(const struct selection *selection)
{
	unsigned int context = 0;

	if (selection->search.length > 0)
		context |= WHEN_MATCHING;
	if (selection->filter.length > 0)
		context |= WHEN_FILTERED;
	return context;
}

static unsigned int heap_context(const struct ui *ui)
{
	return WHEN_BELOW | WHEN_CHOSEN |
	       (data_heap_can_be_read(&ui->data) ? WHEN_READABLE : 0) |
	       (ui->data.heap.is_awaited ? WHEN_WAITING : 0);
}

/* Return the current view and the WHEN_ conditions that hold in it. */
static unsigned int view_context(const struct ui *ui)
{
	switch (ui->view) {
	case VIEW_PROCESSES:
		return IN_PROCESSES | list_context(&ui->processes.selection) |
		       (ui->processes.count > 0 ? WHEN_CHOSEN : 0) |
		       (ui->processes.user.length > 0 ? WHEN_FILTERED : 0) |
		       (ui->processes.tags.count > 0 ? WHEN_TAGGED : 0) |
		       (ui->processes.is_tree ? WHEN_TREE : 0);
	case VIEW_PROCESS: return IN_PROCESS | heap_context(ui);
	case VIEW_MAPPINGS:
		return IN_MAPPINGS | WHEN_BELOW | WHEN_CHOSEN |
		       list_context(&ui->mappings.selection);
	case VIEW_HEAP: return IN_HEAP | heap_context(ui);
	case VIEW_CGROUP: return ui_group_context(ui);
	default: return IN_HELP;
	}
}

unsigned int ui_context(const struct ui *ui)
{
	if (ui->prompt.kind == PROMPT_SEARCH)
		return IN_PROMPT | WHEN_MATCHING;
	if (prompt_is_question(&ui->prompt))
		return IN_QUESTION;
	if (ui->prompt.kind != PROMPT_NONE)
		return IN_PROMPT;
	if (ui->menu.kind != MENU_NONE)
		return ui->menu.kind == MENU_SORT ? IN_MENU : IN_CHECKLIST;
	return view_context(ui) | (ui->options->is_live ? WHEN_LIVE : 0) |
	       (data_is_replayed(&ui->data) ? WHEN_REPLAYED : 0) |
	       (ui->event_count > 0 ? WHEN_EVENTFUL : 0);
}

/* Open the view of mappings. If the cursor is on an owner, show only its mappings. */
static void open_mappings(struct ui *ui)
{
	mappings_show_owner(&ui->mappings, process_chosen_owner(&ui->process));
	ui_set_view(ui, VIEW_MAPPINGS);
}

static void change_view(struct ui *ui, unsigned int step)
{
	enum view view = (enum view)((ui->view + step) % VIEW_HELP);

	if (ui->view == VIEW_PROCESSES && !open_chosen(ui))
		return;
	/* skip the group view if no cgroup has been opened yet */
	if (view == VIEW_CGROUP && !ui->data.group.is_open)
		view = (enum view)((view + step) % VIEW_HELP);
	if (view != VIEW_PROCESSES && view != VIEW_CGROUP && ui->data.detail_pid == 0)
		view = VIEW_PROCESSES;
	mappings_show_owner(&ui->mappings, OWNER_COUNT_);
	ui_set_view(ui, view);
}

static void change_interval(struct ui *ui, int direction)
{
	size_t count = sizeof(intervals_ns) / sizeof(intervals_ns[0]);
	uint64_t chosen = ui->interval_ns;
	char text[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (direction < 0 && intervals_ns[i] < ui->interval_ns)
			chosen = intervals_ns[i];
		if (direction > 0 && intervals_ns[count - 1 - i] > ui->interval_ns)
			chosen = intervals_ns[count - 1 - i];
	}
	ui->interval_ns = chosen;
	ui->wants_refresh = true;
	ui_show_message(ui, "interval %s", units_format_duration(chosen, text));
}

/* Change the theme, which takes effect when the screen is drawn next. */
static void change_theme(struct ui *ui)
{
	ui->theme = theme_next(ui->theme);
	ui_show_message(ui, "theme %s", theme_names[ui->theme]);
}

static void clear_filter(struct ui *ui)
{
	strbuf_clear(&ui_selection(ui)->filter);
	if (ui->view == VIEW_PROCESSES)
		strbuf_clear(&ui->processes.user);
	ui_update_view(ui);
}

static void open_menu(struct ui *ui, enum menu_kind kind)
{
	menu_open(&ui->menu, kind,
		  ui->view == VIEW_PROCESSES ? &ui->processes.grid : &ui->mappings.grid);
}

static void toggle_pause(struct ui *ui)
{
	ui->is_paused = !ui->is_paused;
	ui->wants_refresh = !ui->is_paused;
}

/* Open a prompt or a menu. Return false if the action does not open one. */
static bool ask(struct ui *ui, enum action action)
{
	switch ((int)action) {
	case ACTION_SEARCH: prompt_open(ui, PROMPT_SEARCH); return true;
	case ACTION_FILTER: prompt_open(ui, PROMPT_FILTER); return true;
	case ACTION_USER: prompt_open(ui, PROMPT_USER); return true;
	case ACTION_SIGNAL: ui_ask_for_signal(ui); return true;
	case ACTION_SAVE: prompt_open(ui, PROMPT_SAVE); return true;
	case ACTION_SORT: open_menu(ui, MENU_SORT); return true;
	case ACTION_COLUMNS: open_menu(ui, MENU_COLUMNS); return true;
	default: return false;
	}
}

/* Perform an action that is common to all views. */
static void act(struct ui *ui, enum action action)
{
	switch ((int)action) {
	case ACTION_QUIT: ui->has_quit = true; break;
	case ACTION_HELP:
		ui->view_before_help = ui->view;
		ui->view = VIEW_HELP;
		ui->help = (struct list){ 0 };
		break;
	case ACTION_CANCEL: ui->view = ui->view_before_help; break;
	case ACTION_OPEN:
		if (ui->view == VIEW_PROCESS)
			open_mappings(ui);
		else
			change_view(ui, 1);
		break;
	case ACTION_NEXT_VIEW: change_view(ui, 1); break;
	case ACTION_PREVIOUS_VIEW: change_view(ui, VIEW_HELP - 1); break;
	case ACTION_BACK:
		ui_set_view(ui, ui->view == VIEW_PROCESS ? VIEW_PROCESSES : VIEW_PROCESS);
		break;
	case ACTION_CLEAR_FILTER: clear_filter(ui); break;
	case ACTION_NEXT_MATCH: ui_search(ui, 1); break;
	case ACTION_PREVIOUS_MATCH: ui_search(ui, -1); break;
	case ACTION_PAUSE: toggle_pause(ui); break;
	case ACTION_SLOWER: change_interval(ui, 1); break;
	case ACTION_FASTER: change_interval(ui, -1); break;
	case ACTION_THEME: change_theme(ui); break;
	case ACTION_REDRAW: ui->wants_redraw = true; break;
	}
}

static bool act_in_view(struct ui *ui, enum action action)
{
	switch (ui->view) {
	case VIEW_PROCESSES: return processes_act(&ui->processes, action);
	case VIEW_PROCESS: return process_act(&ui->process, action);
	case VIEW_MAPPINGS: return mappings_act(&ui->mappings, action);
	case VIEW_HEAP: return heap_view_act(&ui->heap, action);
	case VIEW_CGROUP: return group_view_act(&ui->group, action);
	default:
		return list_scroll(&ui->help,
				   help_line_count(data_is_replayed(&ui->data)), action);
	}
}

static void menu_key(struct ui *ui, enum action action)
{
	if (action == ACTION_QUIT || action == ACTION_REDRAW) {
		act(ui, action);
		return;
	}
	if (menu_act(&ui->menu, action)) {
		/* a new column may show values that have not been read yet */
		ui->wants_refresh = ui->options->is_live || data_is_replayed(&ui->data);
		ui_update_view(ui);
	}
}

void ui_key(struct ui *ui, uint32_t key)
{
	enum action action = keymap_find(key, ui_context(ui));

	ui->message[0] = '\0';
	if (ui->prompt.kind != PROMPT_NONE)
		prompt_key(ui, key);
	else if (ui->menu.kind != MENU_NONE)
		menu_key(ui, action);
	else if (!act_in_view(ui, action) && !ask(ui, action) &&
		 !ui_heap_act(ui, action) && !ui_replay_act(ui, action) &&
		 !ui_group_act(ui, action))
		act(ui, action);
}

static struct grid *grid_of(struct ui *ui, size_t *ret_count)
{
	if (ui->view != VIEW_PROCESSES && ui->view != VIEW_MAPPINGS)
		return NULL;
	*ret_count = ui->view == VIEW_PROCESSES ? ui->processes.count
						: ui->mappings.count;
	return ui->view == VIEW_PROCESSES ? &ui->processes.grid : &ui->mappings.grid;
}

static void click_grid(struct ui *ui, int x, int y)
{
	size_t count = 0;
	struct grid *grid = grid_of(ui, &count);
	const struct column *heading = grid ? grid_heading_at(grid, x, y) : NULL;
	size_t row = grid ? grid_row_at(grid, count, x, y) : SIZE_MAX;

	if (heading) {
		grid_sort_by(grid, heading);
		ui_update_view(ui);
	} else if (row != SIZE_MAX && ui->view == VIEW_PROCESSES) {
		processes_choose_row(&ui->processes, row);
	} else if (row != SIZE_MAX) {
		mappings_choose_row(&ui->mappings, row);
	}
}

static void click(struct ui *ui, int x, int y)
{
	for (size_t i = 0; i < ui->bar_count && y == ui->bar_y; i++) {
		if (x >= ui->bar[i].x && x < ui->bar[i].end) {
			ui_key(ui, ui->bar[i].key);
			return;
		}
	}
	if (ui->prompt.kind != PROMPT_NONE)
		return;
	if (ui->menu.kind == MENU_NONE && ui_replay_click(ui, x, y))
		return;
	if (ui->view == VIEW_CGROUP)
		group_view_choose_line(&ui->group, y);
	else if (ui->menu.kind == MENU_NONE)
		click_grid(ui, x, y);
	else if (menu_point(&ui->menu, x, y))
		menu_key(ui, ui->menu.kind == MENU_SORT ? ACTION_ACCEPT : ACTION_TOGGLE);
}

void ui_mouse(struct ui *ui, int x, int y, enum mouse what)
{
	uint32_t key = what == MOUSE_WHEEL_UP ? KEY_ARROW_UP : KEY_ARROW_DOWN;

	if (what == MOUSE_CLICK) {
		ui->message[0] = '\0';
		click(ui, x, y);
		return;
	}
	for (int i = 0; i < WHEEL_LINES && ui->prompt.kind == PROMPT_NONE; i++)
		ui_key(ui, key);
}
