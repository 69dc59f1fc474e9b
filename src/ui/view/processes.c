/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "ui/data/data.h"
#include "ui/view/processes_head.h"
#include "ui/view/processes_panel.h"

/* Maximum number of users listed by the prompt for a user. */
#define USERS_MAX 64

void processes_init(struct processes_view *v, const struct data *data, const char *sort,
		    bool exact_bytes)
{
	memset(v, 0, sizeof(*v));
	v->data = data;
	v->exact_bytes = exact_bytes;
	grid_init(&v->grid, &process_columns, process_columns.table_default,
		  sort ? sort : process_columns.sort_default);
}

void processes_release(struct processes_view *v)
{
	grid_release(&v->grid);
	strbuf_release(&v->selection.filter);
	strbuf_release(&v->selection.search);
	strbuf_release(&v->user);
	free(v->rows);
	free(v->order);
	free(v->places);
	process_set_release(&v->tags);
	process_set_release(&v->folded);
}

unsigned int processes_needs(const struct processes_view *v)
{
	return column_list_needs(&v->grid.columns) | v->grid.sort.column->needs |
	       NEED_STAT | (v->user.length > 0 ? NEED_UID : 0);
}

static const struct usage *usage_at(const struct processes_view *v, size_t row)
{
	return ((const struct process_row *)v->order[row])->usage;
}

const struct usage *processes_chosen(const struct processes_view *v)
{
	return v->grid.list.cursor < v->count ? usage_at(v, v->grid.list.cursor) : NULL;
}

size_t processes_visible(const struct processes_view *v, size_t max, int *ret_pids)
{
	size_t count = 0;

	for (size_t r = v->grid.list.top;
	     r < v->count && r < v->grid.list.top + v->grid.list.page && count < max; r++)
		ret_pids[count++] = usage_at(v, r)->process.pid;
	return count;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct processes_view *v = context;
	const struct process_row *row_a = *(const struct process_row *const *)a;
	const struct process_row *row_b = *(const struct process_row *const *)b;
	int order = sort_key_compare(&v->grid.sort, row_a, row_b);

	return order ? order : row_a->usage->process.pid - row_b->usage->process.pid;
}

static void find_cursor(struct processes_view *v)
{
	if (v->cursor_pid == 0) {
		v->grid.list.cursor = 0;
		return;
	}
	for (size_t r = 0; r < v->count; r++) {
		const struct process *p = &usage_at(v, r)->process;

		if (p->pid == v->cursor_pid && p->start_ticks == v->cursor_start_ticks) {
			v->grid.list.cursor = r;
			return;
		}
	}
	/*
	 * if the process has ended or is filtered out, the cursor stays in the same line
	 */
	if (v->grid.list.cursor >= v->count)
		v->grid.list.cursor = v->count > 0 ? v->count - 1 : 0;
}

/* Get the user of a process in the form that the user column shows. */
static void get_user(const struct snapshot *s, const struct usage *u, struct value *ret)
{
	const struct column *column =
		column_find(&process_columns, "user", strlen("user"));
	const struct process_row row = { s, u };

	*ret = (struct value){ 0 };
	column->get(&row, column->arg, ret);
}

static bool is_text(const struct value *value, const struct strbuf *text, size_t length)
{
	return value->is_known && value->text_length == length &&
	       memcmp(value->text, strbuf_text(text), length) == 0;
}

/*
 * Return true if the text of the user filter is a complete user name. While the user
 * types, the text is only the beginning of a name.
 */
static bool is_user_complete(const struct processes_view *v)
{
	const struct snapshot *s = v->data->processes;
	struct value value;

	for (size_t i = 0; i < s->count; i++) {
		get_user(s, &s->usages[i], &value);
		if (is_text(&value, &v->user, v->user.length))
			return true;
	}
	return false;
}

static bool has_user(const struct processes_view *v, const struct usage *u,
		     bool is_complete)
{
	struct value value;

	if (v->user.length == 0)
		return true;
	get_user(v->data->processes, u, &value);
	if (!is_complete && value.is_known && value.text_length > v->user.length)
		value.text_length = v->user.length;
	return is_text(&value, &v->user, v->user.length);
}

void processes_add_users(const struct processes_view *v, size_t width, struct strbuf *out)
{
	const struct snapshot *s = v->data->processes;
	uint32_t uids[USERS_MAX];
	size_t begin = out->length, count = 0;

	for (size_t i = 0; i < s->count && count < USERS_MAX; i++) {
		struct value value;
		size_t k = 0;

		while (k < count && uids[k] != s->usages[i].process.uid)
			k++;
		get_user(s, &s->usages[i], &value);
		if (k < count || !value.is_known)
			continue;
		uids[count++] = s->usages[i].process.uid;
		if (out->length - begin + value.text_length + 1 > width)
			return;
		if (out->length > begin)
			strbuf_add_char(out, ' ');
		strbuf_add(out, value.text, value.text_length);
	}
}

void processes_add_chosen_user(const struct processes_view *v, struct strbuf *out)
{
	const struct usage *u = processes_chosen(v);
	struct value value = { 0 };

	if (u)
		get_user(v->data->processes, u, &value);
	if (value.is_known)
		strbuf_add(out, value.text, value.text_length);
}

void processes_update(struct processes_view *v)
{
	const struct snapshot *s = v->data->processes;
	const char *filter = strbuf_text(&v->selection.filter);
	bool is_complete = v->user.length > 0 && is_user_complete(v);

	v->rows = xgrow(v->rows, &v->row_capacity, s->count + 1, sizeof(*v->rows));
	v->order = xgrow(v->order, &v->order_capacity, s->count + 1, sizeof(*v->order));
	v->places =
		xgrow(v->places, &v->place_capacity, s->count + 1, sizeof(*v->places));
	v->count = 0;
	for (size_t i = 0; i < s->count; i++) {
		v->rows[i] = (struct process_row){ s, &s->usages[i] };
		if (!has_user(v, &s->usages[i], is_complete))
			continue;
		if (filter[0] == '\0' || grid_row_matches(&v->grid, &v->rows[i], filter))
			v->order[v->count++] = &v->rows[i];
	}
	qsort_r(v->order, v->count, sizeof(*v->order), compare_rows, v);
	v->match_count = v->count;
	if (v->is_tree) {
		tree_order(v->order, v->count, v->places);
		v->count = tree_fold(v->order, v->count, v->places, &v->folded);
	}
	find_cursor(v);
}

static void follow_cursor(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);

	v->is_following = false;
	v->cursor_pid = u && v->grid.list.cursor > 0 ? u->process.pid : 0;
	v->cursor_start_ticks = u ? u->process.start_ticks : 0;
}

void processes_choose_row(struct processes_view *v, size_t row)
{
	v->grid.list.cursor = row;
	follow_cursor(v);
}

bool processes_search(struct processes_view *v, int step)
{
	size_t row = grid_search(&v->grid, v->order, v->count,
				 strbuf_text(&v->selection.search), step);

	if (row == SIZE_MAX)
		return false;
	processes_choose_row(v, row);
	return true;
}

static void toggle_tag(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);

	if (!u)
		return;
	if (process_set_has(&v->tags, &u->process))
		process_set_remove(&v->tags, &u->process);
	else
		process_set_add(&v->tags, &u->process);
	grid_move(&v->grid, v->count, ACTION_DOWN);
	follow_cursor(v);
}

/*
 * Return true if the process in a row has children in the list, whether visible or
 * folded away.
 */
static bool has_children(const struct processes_view *v, size_t row)
{
	return v->places[row].hidden > 0 ||
	       (row + 1 < v->count && v->places[row + 1].depth > v->places[row].depth);
}

/*
 * Fold the process under the cursor, or its parent if the process has no
 * visible children.
 */
static void fold(struct processes_view *v)
{
	size_t row = v->grid.list.cursor;
	size_t depth;

	if (row >= v->count)
		return;
	depth = v->places[row].depth;
	if (!has_children(v, row) || v->places[row].hidden > 0) {
		if (depth == 0)
			return;
		while (v->places[row].depth >= depth)
			row--;
	}
	process_set_add(&v->folded, &usage_at(v, row)->process);
	processes_choose_row(v, row);
}

static void unfold(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);

	if (u)
		process_set_remove(&v->folded, &u->process);
}

/* Unfold all processes. If no process is folded, fold everything below the roots. */
static void toggle_all_folds(struct processes_view *v)
{
	if (v->folded.count > 0) {
		process_set_clear(&v->folded);
		return;
	}
	for (size_t r = 0; r < v->count; r++)
		if (v->places[r].depth > 0 && has_children(v, r))
			process_set_add(&v->folded, &usage_at(v, r)->process);
}

/*
 * Start or stop following the process under the cursor. The cursor then follows the
 * process even from the first line, where the cursor would otherwise stay.
 */
static void toggle_following(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);
	bool was_following = v->is_following;

	follow_cursor(v);
	if (!u || was_following)
		return;
	v->is_following = true;
	v->cursor_pid = u->process.pid;
	v->cursor_start_ticks = u->process.start_ticks;
}

/* Sort the processes by a column, with the largest values first. */
static void sort_by(struct processes_view *v, const char *name)
{
	v->grid.sort.column = column_find(&process_columns, name, strlen(name));
	v->grid.sort.is_descending = true;
}

bool processes_act(struct processes_view *v, enum action action)
{
	if (grid_move(&v->grid, v->count, action)) {
		follow_cursor(v);
		return true;
	}
	switch ((int)action) {
	case ACTION_TREE: v->is_tree = !v->is_tree; break;
	case ACTION_INVERT:
		v->grid.sort.is_descending = !v->grid.sort.is_descending;
		break;
	case ACTION_SORT_RSS: sort_by(v, "rss_bytes"); break;
	case ACTION_SORT_PSS: sort_by(v, "pss_bytes"); break;
	case ACTION_SORT_START: sort_by(v, "start_ticks"); break;
	case ACTION_TAG: toggle_tag(v); return true;
	case ACTION_UNTAG: process_set_clear(&v->tags); return true;
	case ACTION_FOLLOW: toggle_following(v); return true;
	case ACTION_FOLD: fold(v); break;
	case ACTION_UNFOLD: unfold(v); break;
	case ACTION_FOLD_ALL: toggle_all_folds(v); break;
	default: return false;
	}
	processes_update(v);
	return true;
}

static void set_row_style(void *context, size_t row, struct row_style *ret)
{
	const struct processes_view *v = context;
	const struct usage *u = usage_at(v, row);

	if (u->error)
		ret->role = ROLE_DIM;
	if (process_set_has(&v->tags, &u->process)) {
		ret->role = ROLE_TAGGED;
		ret->mark = '*';
	}
	if (v->is_tree)
		tree_add_prefix(ret->prefix, &v->places[row], v->ascii);
}

void processes_draw(struct processes_view *v, struct canvas *c, const struct area *area)
{
	const struct grid_rows rows = {
		.rows = v->order,
		.count = v->count,
		.exact_bytes = v->exact_bytes,
		.style = set_row_style,
		.context = v,
	};
	int head = area->height >= 14 ? PROCESSES_HEAD_HEIGHT : 1;
	struct area table = { area->x, area->y + head, area->width, area->height - head };
	int panel_width = processes_panel_width(area->width, area->height);
	struct area panel = { area->x + area->width - panel_width, table.y, panel_width,
			      table.height };

	table.width -= panel_width;
	v->ascii = c->ascii;
	list_fit(&v->grid.list, v->count, table.height - 1);
	processes_head_draw(v, c, &(struct area){ area->x, area->y, area->width, head });
	grid_draw(&v->grid, c, &table, &rows);
	if (panel_width > 0)
		processes_panel_draw(processes_chosen(v), c, &panel);
}
