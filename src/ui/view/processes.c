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
#include "ui/screen/meter.h"
#include "ui/view/process_matrix.h"
#include "ui/view/processes_panel.h"

/* Number of users that are listed. */
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
	free(v->tags);
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
		if (usage_at(v, r)->process.pid == v->cursor_pid) {
			v->grid.list.cursor = r;
			return;
		}
	}
	/* the process has ended or is filtered out: keep the cursor in the same line */
	if (v->grid.list.cursor >= v->count)
		v->grid.list.cursor = v->count > 0 ? v->count - 1 : 0;
}

/* Get the user of a process in the same form as the column of users. */
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
 * Return true if the filter by user is the whole name of a user. While the user types,
 * it is only the beginning of a name.
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
	if (v->is_tree)
		tree_order(v->order, v->count, v->places);
	find_cursor(v);
}

static void follow_cursor(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);

	v->cursor_pid = u && v->grid.list.cursor > 0 ? u->process.pid : 0;
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

static struct tag *find_tag(const struct processes_view *v, const struct process *p)
{
	for (size_t i = 0; i < v->tag_count; i++)
		if (v->tags[i].pid == p->pid && v->tags[i].start_ticks == p->start_ticks)
			return &v->tags[i];
	return NULL;
}

static void toggle_tag(struct processes_view *v)
{
	const struct usage *u = processes_chosen(v);
	struct tag *tag;

	if (!u)
		return;
	tag = find_tag(v, &u->process);
	if (tag) {
		*tag = v->tags[--v->tag_count];
	} else {
		v->tags = xgrow(v->tags, &v->tag_capacity, v->tag_count + 1,
				sizeof(*v->tags));
		v->tags[v->tag_count++] =
			(struct tag){ u->process.pid, u->process.start_ticks };
	}
	grid_move(&v->grid, v->count, ACTION_DOWN);
	follow_cursor(v);
}

/* Sort by a column, with the largest values first. */
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
	case ACTION_UNTAG: v->tag_count = 0; return true;
	default: return false;
	}
	processes_update(v);
	return true;
}

/*
 * Sums over processes. Pss and Uss can be added up, but a sum of Rss
 * would count shared pages repeatedly.
 */
struct sums {
	size_t count;
	size_t unread; /* number of processes with unknown figures */
	uint64_t pss_bytes, uss_bytes, lazyfree_bytes, swap_bytes;
};

static void sum_up(struct sums *sums, const struct usage *u)
{
	sums->count++;
	if (!bytes_known(u->total.bytes[SMAPS_PSS])) {
		sums->unread++;
		return;
	}
	sums->pss_bytes = bytes_add(sums->pss_bytes, u->total.bytes[SMAPS_PSS]);
	sums->uss_bytes = bytes_add(sums->uss_bytes, usage_uss_bytes(u));
	sums->lazyfree_bytes =
		bytes_add(sums->lazyfree_bytes, u->state_bytes[STATE_LAZYFREE]);
	sums->swap_bytes = bytes_add(sums->swap_bytes, u->total.bytes[SMAPS_SWAP]);
}

static void add_sums(struct pen *pen, const struct sums *s, const char *what)
{
	char pss[UNITS_TEXT_SIZE], uss[UNITS_TEXT_SIZE], lazyfree[UNITS_TEXT_SIZE],
		swap[UNITS_TEXT_SIZE];

	pen->role = ROLE_STRONG;
	pen_addf(pen, "%zu", s->count);
	pen->role = ROLE_TEXT;
	pen_add(pen, what);
	if (s->unread < s->count)
		pen_addf(pen, "  Pss %s  Uss %s  lazyfree %s  Swap %s",
			 units_format_bytes(s->pss_bytes, pss),
			 units_format_bytes(s->uss_bytes, uss),
			 units_format_bytes(s->lazyfree_bytes, lazyfree),
			 units_format_bytes(s->swap_bytes, swap));
	if (s->unread > 0)
		pen_addf(pen, "  (%zu not read)", s->unread);
}

static void add_filter(const struct processes_view *v, struct strbuf *out, bool ascii)
{
	strbuf_addf(out, " of %zu", v->data->processes->count);
	if (v->user.length > 0)
		strbuf_addf(out, ", user ");
	text_add_printable(out, strbuf_text(&v->user), v->user.length, ascii);
	if (v->selection.filter.length > 0)
		strbuf_addf(out, "%s with ", v->user.length > 0 ? "," : "");
	text_add_printable(out, strbuf_text(&v->selection.filter),
			   v->selection.filter.length, ascii);
}

static void draw_sums(const struct processes_view *v, struct canvas *c,
		      const struct area *area)
{
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;
	struct sums all = { 0 }, tagged = { 0 };

	for (size_t r = 0; r < v->count; r++) {
		const struct usage *u = usage_at(v, r);

		sum_up(&all, u);
		if (v->tag_count > 0 && find_tag(v, &u->process))
			sum_up(&tagged, u);
	}
	if (tagged.count > 0)
		strbuf_addf(&what, " tagged");
	else if (v->selection.filter.length > 0 || v->user.length > 0)
		add_filter(v, &what, c->ascii);
	else
		strbuf_addf(&what, " process%s", all.count == 1 ? "" : "es");
	add_sums(&pen, tagged.count > 0 ? &tagged : &all, what.text);
}

/* The width of the legend with the full names of the states. */
#define FULL_LEGEND_WIDTH 116

/*
 * Draw the legend of the states, with the amounts of a process unless they are unknown.
 * The names are those of the columns if the full names do not fit.
 */
static void draw_legend(struct pen *pen, const struct usage *u)
{
	bool is_full = pen->end - pen->x >= FULL_LEGEND_WIDTH;

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		const char *name = is_full ? page_state_names[s]
					   : state_heading((enum page_state)s);
		char text[UNITS_TEXT_SIZE] = "";
		int width = (int)strlen(name) + 2;

		if (u && bytes_known(u->state_bytes[s]))
			units_format_bytes(u->state_bytes[s], text);
		width += text[0] == '\0' ? 0 : 1 + (int)strlen(text);
		if (pen->x + width > pen->end)
			return;
		meter_add_letter(pen, (enum role)(ROLE_STATE + s),
				 part_letter((enum part)(PART_STATE + s)));
		pen_addf(pen, " %s%s%s", name, text[0] == '\0' ? "" : " ", text);
		pen_add(pen, "  ");
	}
}

static void draw_states(struct pen *pen, const struct usage *u)
{
	char letters[STATE_COUNT_];
	enum role roles[STATE_COUNT_];
	const struct meter meter = {
		u->state_bytes, STATE_COUNT_, u->total.bytes[SMAPS_RSS], letters, roles,
	};

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		letters[s] = part_letter((enum part)(PART_STATE + s));
		roles[s] = (enum role)(ROLE_STATE + s);
	}
	pen_addf(pen, "%d Rss ", u->process.pid);
	meter_draw(&meter, pen);
}

/* Draw the page states of the process under the cursor, as a bar and as figures. */
static void draw_chosen(const struct processes_view *v, struct canvas *c,
			const struct area *area)
{
	const struct usage *u = processes_chosen(v);
	struct pen bar = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	struct pen legend = canvas_pen(c, area->x + 1, area->y + 1, area->width - 1);

	draw_legend(&legend, u);
	if (!u)
		return;
	if (bytes_known(u->total.bytes[SMAPS_RSS])) {
		draw_states(&bar, u);
		return;
	}
	bar.role = ROLE_DIM;
	pen_addf(&bar, "%d: %s", u->process.pid,
		 u->error == -EACCES || u->error == -EPERM
			 ? "only its owner and root may read its memory"
		 : u->error ? strerror(-u->error)
			    : "not read yet");
}

static void set_row_style(void *context, size_t row, struct row_style *ret)
{
	const struct processes_view *v = context;
	const struct usage *u = usage_at(v, row);

	if (u->error)
		ret->role = ROLE_DIM;
	if (v->tag_count > 0 && find_tag(v, &u->process)) {
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
	int head = area->height >= 14 ? 3 : 1;
	struct area table = { area->x, area->y + head, area->width, area->height - head };
	struct area chosen = { area->x, area->y + 1, area->width, 2 };
	int panel_width = processes_panel_width(area->width, area->height);
	struct area panel = { area->x + area->width - panel_width, table.y, panel_width,
			      table.height };

	table.width -= panel_width;
	v->ascii = c->ascii;
	list_fit(&v->grid.list, v->count, table.height - 1);
	draw_sums(v, c, area);
	if (head == 3)
		draw_chosen(v, c, &chosen);
	grid_draw(&v->grid, c, &table, &rows);
	if (panel_width > 0)
		processes_panel_draw(processes_chosen(v), c, &panel);
}
