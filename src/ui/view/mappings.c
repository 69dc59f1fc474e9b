/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/mappings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "ui/data/data.h"
#include "ui/data/replay.h"

/* Columns for groups of mappings, which have neither an address nor permissions. */
#define GROUP_COLUMNS                                                                            \
	"rss_bytes,size_bytes,pss_bytes,private_dirty_bytes,lazyfree_bytes,private_clean_bytes," \
	"shared_clean_bytes,swap_bytes,owner,name"

/* Columns for narrow screens: fewer than usual, to leave room for names. */
#define NARROW_COLUMNS \
	"start_addr,size_bytes,rss_bytes,private_dirty_bytes,lazyfree_bytes,perms,owner,name"
#define NARROW_GROUP_COLUMNS \
	"rss_bytes,size_bytes,private_dirty_bytes,lazyfree_bytes,owner,name"
#define NARROW_WIDTH 100

static const struct grouping_row {
	const char *title;
	/* columns for a narrow screen; NULL: the default columns of the table */
	const char *narrow_columns;
	const char *columns;
} grouping_rows[GROUPING_COUNT_] = {
	[GROUP_NONE] = { "mappings", NARROW_COLUMNS, NULL },
	[GROUP_FILE] = { "groups by file", NARROW_GROUP_COLUMNS, GROUP_COLUMNS },
	[GROUP_OWNER] = { "groups by owner", NARROW_GROUP_COLUMNS, GROUP_COLUMNS },
};

/* Choose the default columns for the width of the screen. */
static void set_columns(struct mappings_view *v)
{
	const struct grouping_row *row = &grouping_rows[v->grouping];
	const char *columns = v->width < NARROW_WIDTH ? row->narrow_columns
						      : row->columns;

	grid_set_columns(&v->grid, columns ? columns : mapping_columns.table_default);
	v->grid.is_chosen = false;
}

void mappings_init(struct mappings_view *v, const struct data *data, bool exact_bytes)
{
	memset(v, 0, sizeof(*v));
	v->data = data;
	v->exact_bytes = exact_bytes;
	grid_init(&v->grid, &mapping_columns, mapping_columns.table_default, "rss_bytes");
	v->grid.cuts_front = true;
	v->only_owner = OWNER_COUNT_;
}

static void release_groups(struct mappings_view *v)
{
	for (size_t i = 0; i < v->group_count; i++)
		free((char *)v->groups[i].name);
	v->group_count = 0;
}

void mappings_release(struct mappings_view *v)
{
	release_groups(v);
	free(v->groups);
	free(v->order);
	grid_release(&v->grid);
	strbuf_release(&v->selection.filter);
	strbuf_release(&v->selection.search);
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct mapping *m_a = *(const struct mapping *const *)a;
	const struct mapping *m_b = *(const struct mapping *const *)b;
	const enum grouping *grouping = context;
	int order = (m_a->owner > m_b->owner) - (m_a->owner < m_b->owner);

	if (order == 0 && *grouping == GROUP_FILE)
		order = strcmp(mapping_group_name(m_a), mapping_group_name(m_b));
	return order;
}

static void end_group(struct mapping *group, size_t count)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_add_text(&name, mapping_group_name(group));
	if (name.length > 0)
		strbuf_addf(&name, " (%zu mapping%s)", count, count == 1 ? "" : "s");
	else
		strbuf_addf(&name, "%zu mapping%s", count, count == 1 ? "" : "s");
	group->name_length = (uint32_t)name.length;
	group->name = strbuf_take(&name);
}

/* Combine consecutive mappings that compare equal into groups. */
static void make_groups(struct mappings_view *v, const void **sorted, size_t count)
{
	size_t members = 0;

	release_groups(v);
	v->groups = xgrow(v->groups, &v->group_capacity, count + 1, sizeof(*v->groups));
	for (size_t i = 0; i < count; i++) {
		const struct mapping *m = sorted[i];
		struct mapping *group = &v->groups[v->group_count];

		if (members == 0) {
			*group = *m;
			if (v->grouping == GROUP_OWNER) {
				group->name_length = 0;
				group->name = "";
				group->flags &= ~(MAPPING_HEAP | MAPPING_ALLOCATOR_MASK);
			}
		} else {
			counters_add(&group->counters, &m->counters);
		}
		members++;
		if (i + 1 < count &&
		    compare_groups(&sorted[i], &sorted[i + 1], &v->grouping) == 0)
			continue;
		end_group(group, members);
		v->group_count++;
		members = 0;
	}
}

static bool is_of_owner(const struct mapping *m, enum owner owner)
{
	if (owner <= OWNER_HEAP_LAST)
		return m->flags & MAPPING_HEAP;
	return owner == OWNER_COUNT_ || m->owner == owner;
}

static void add_rows(struct mappings_view *v)
{
	const struct mapping_list *list = &v->data->mappings;
	const char *filter = strbuf_text(&v->selection.filter);

	v->order =
		xgrow(v->order, &v->order_capacity, list->count + 1, sizeof(*v->order));
	v->count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (is_of_owner(&list->items[i], v->only_owner) &&
		    (filter[0] == '\0' ||
		     grid_row_matches(&v->grid, &list->items[i], filter)))
			v->order[v->count++] = &list->items[i];
	if (v->grouping == GROUP_NONE)
		return;
	qsort_r(v->order, v->count, sizeof(*v->order), compare_groups, &v->grouping);
	make_groups(v, v->order, v->count);
	v->count = v->group_count;
	for (size_t i = 0; i < v->count; i++)
		v->order[i] = &v->groups[i];
}

static const struct mapping *mapping_at(const struct mappings_view *v, size_t row)
{
	return v->order[row];
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct mappings_view *v = context;
	const struct mapping *m_a = *(const struct mapping *const *)a;
	const struct mapping *m_b = *(const struct mapping *const *)b;
	int order = sort_key_compare(&v->grid.sort, m_a, m_b);

	return order ? order
		     : (m_a->start_addr > m_b->start_addr) -
			       (m_a->start_addr < m_b->start_addr);
}

void mappings_update(struct mappings_view *v)
{
	add_rows(v);
	qsort_r(v->order, v->count, sizeof(*v->order), compare_rows, v);
	if (!v->is_following)
		v->grid.list.cursor = 0;
	for (size_t r = 0; r < v->count && v->is_following; r++) {
		if (mapping_at(v, r)->start_addr == v->cursor_addr) {
			v->grid.list.cursor = r;
			break;
		}
	}
	if (v->grid.list.cursor >= v->count)
		v->grid.list.cursor = v->count > 0 ? v->count - 1 : 0;
}

void mappings_show_owner(struct mappings_view *v, enum owner owner)
{
	if (v->only_owner != owner)
		v->is_following = false;
	v->only_owner = owner;
}

static void follow_cursor(struct mappings_view *v)
{
	size_t cursor = v->grid.list.cursor;

	v->is_following = cursor > 0 && cursor < v->count;
	if (v->is_following)
		v->cursor_addr = mapping_at(v, cursor)->start_addr;
}

void mappings_choose_row(struct mappings_view *v, size_t row)
{
	v->grid.list.cursor = row;
	follow_cursor(v);
}

bool mappings_search(struct mappings_view *v, int step)
{
	size_t row = grid_search(&v->grid, v->order, v->count,
				 strbuf_text(&v->selection.search), step);

	if (row == SIZE_MAX)
		return false;
	mappings_choose_row(v, row);
	return true;
}

static void group_next(struct mappings_view *v)
{
	v->grouping = (v->grouping + 1) % GROUPING_COUNT_;
	set_columns(v);
	v->is_following = false;
	mappings_update(v);
}

bool mappings_act(struct mappings_view *v, enum action action)
{
	if (grid_move(&v->grid, v->count, action)) {
		follow_cursor(v);
		return true;
	}
	switch ((int)action) {
	case ACTION_GROUP: group_next(v); return true;
	case ACTION_INVERT:
		v->grid.sort.is_descending = !v->grid.sort.is_descending;
		mappings_update(v);
		return true;
	default: return false;
	}
}

static void draw_sums(const struct mappings_view *v, struct canvas *c,
		      const struct area *area)
{
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 2);
	const struct usage *u = data_detail(v->data);
	char rss[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
	uint64_t rss_bytes = 0, size_bytes = 0;

	for (size_t r = 0; r < v->count; r++) {
		rss_bytes =
			bytes_add(rss_bytes, mapping_at(v, r)->counters.bytes[SMAPS_RSS]);
		size_bytes = bytes_add(size_bytes,
				       mapping_at(v, r)->counters.bytes[SMAPS_SIZE]);
	}
	if (!u && data_is_replayed(v->data)) {
		pen_addf(&pen, "process %d did not exist at that time",
			 v->data->detail_pid);
		return;
	}
	pen.role = ROLE_STRONG;
	if (u)
		pen_add_foreign(&pen, u->process.comm, strlen(u->process.comm));
	pen.role = ROLE_TEXT;
	pen_addf(&pen, " (%d)  %zu %s  Rss %s  Size %s", v->data->detail_pid, v->count,
		 grouping_rows[v->grouping].title, units_format_bytes(rss_bytes, rss),
		 units_format_bytes(size_bytes, size));
	if (v->only_owner != OWNER_COUNT_)
		pen_addf(&pen, "  only %s",
			 v->only_owner <= OWNER_HEAP_LAST ? "malloc's"
							  : owner_names[v->only_owner]);
	if (v->selection.filter.length > 0) {
		pen_add(&pen, "  with ");
		pen.role = ROLE_STRONG;
		pen_add_foreign(&pen, v->selection.filter.text,
				v->selection.filter.length);
	}
}

/* Draw a line with the full name of the mapping under the cursor. */
static void draw_chosen(const struct mappings_view *v, struct canvas *c,
			const struct area *area)
{
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 2);
	const struct mapping *m;
	char perms[5];

	if (v->grid.list.cursor >= v->count)
		return;
	m = mapping_at(v, v->grid.list.cursor);
	if (v->grouping == GROUP_NONE)
		pen_addf(&pen, "%" PRIx64 "-%" PRIx64 " %s ", m->start_addr, m->end_addr,
			 mapping_format_perms(m, perms));
	pen_add_foreign_end(&pen, m->name, m->name_length);
}

/* Dim mappings without resident pages, because they use no memory. */
static void set_row_style(void *context, size_t row, struct row_style *ret)
{
	const struct mappings_view *v = context;

	if (mapping_at(v, row)->counters.bytes[SMAPS_RSS] == 0)
		ret->role = ROLE_DIM;
}

void mappings_draw(struct mappings_view *v, struct canvas *c, const struct area *area)
{
	const struct grid_rows rows = {
		.rows = v->order,
		.count = v->count,
		.exact_bytes = v->exact_bytes,
		.style = set_row_style,
		.context = v,
	};
	int head = area->height >= 14 ? 2 : 1;
	struct area table = { area->x, area->y + head, area->width, area->height - head };
	struct area chosen = { area->x, area->y + 1, area->width, 1 };

	if (v->width != area->width && !v->grid.is_chosen) {
		v->width = area->width;
		set_columns(v);
	}
	draw_sums(v, c, area);
	if (head == 2)
		draw_chosen(v, c, &chosen);
	grid_draw(&v->grid, c, &table, &rows);
}
