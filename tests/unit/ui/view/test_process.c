/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/process.h"

#include <string.h>

#include "base/units.h"
#include "ui/data/data.h"
#include "ui/data/options.h"
#include "../../support/unit.h"

struct stage {
	struct data data;
	struct process_view view;
	struct usage *usage;
};

static void begin(struct stage *s)
{
	memset(s, 0, sizeof(*s));
	history_init(&s->data.history);
	snapshot_init(&s->data.detail);
	s->usage = snapshot_add(&s->data.detail);
	s->data.detail_pid = 7;
	process_init(&s->view, &s->data, false);
}

static void end(struct stage *s)
{
	history_release(&s->data.history);
	snapshot_release(&s->data.detail);
}

static void set_owner(struct usage *u, enum owner owner, uint64_t bytes)
{
	u->matrix.owner_rss_bytes[owner] = bytes;
	u->matrix.cell[owner][STATE_PRIVATE_DIRTY] = bytes;
}

static void show(struct stage *s, uint64_t anon_bytes, uint64_t file_bytes)
{
	memset(&s->usage->matrix, 0, sizeof(s->usage->matrix));
	set_owner(s->usage, OWNER_ANON, anon_bytes);
	set_owner(s->usage, OWNER_FILE, file_bytes);
	s->usage->total.bytes[SMAPS_RSS] = anon_bytes + file_bytes;
	s->usage->taken_ns += NS_PER_S;
	history_add(&s->data.history, s->usage, 0);
	process_update(&s->view);
}

/* Show a sample, and check which owner is chosen. */
static void show_and_expect(struct stage *s, uint64_t anon_bytes, uint64_t file_bytes,
			    enum owner owner)
{
	show(s, anon_bytes, file_bytes);
	assert_int_equal(process_chosen_owner(&s->view), owner);
}

static void the_cursor_starts_at_the_largest_owner(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	show_and_expect(&s, 100 * MIB, 200 * MIB, OWNER_FILE);
	end(&s);
}

static void the_fastest_growing_owner_takes_precedence(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	show(&s, 100 * MIB, 200 * MIB);
	show_and_expect(&s, 101 * MIB, 200 * MIB, OWNER_FILE);
	show_and_expect(&s, 110 * MIB, 205 * MIB, OWNER_ANON);
	end(&s);
}

static void the_cursor_stays_where_the_user_moved_it(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	show(&s, 100 * MIB, 200 * MIB);
	assert_true(process_act(&s.view, ACTION_UP));
	assert_int_equal(process_chosen_owner(&s.view), OWNER_ANON);
	show_and_expect(&s, 100 * MIB, 300 * MIB, OWNER_ANON);
	/* another process starts anew */
	s.data.detail_pid = 8;
	history_clear(&s.data.history);
	show_and_expect(&s, 100 * MIB, 300 * MIB, OWNER_FILE);
	end(&s);
}

/* Draw the view, and append its text to *out. */
static void draw(struct stage *s, struct strbuf *out)
{
	const struct area area = { 0, 0, 80, 24 };
	struct canvas canvas;

	canvas_init(&canvas);
	canvas_begin(&canvas, 80, 24, true);
	process_draw(&s->view, &canvas, &area, s->usage->taken_ns);
	canvas_add_text(&canvas, out);
	canvas_release(&canvas);
}

static void a_heading_does_not_touch_the_one_beside_it(void **state)
{
	struct strbuf text = STRBUF_INIT;
	const struct ui_options options = { 0 };
	struct stage s;

	(void)state;
	begin(&s);
	s.data.options = &options;
	show(&s, 100 * MIB, 200 * MIB);
	s.usage->taken_ns -= 21200 * NS_PER_US;
	show(&s, 100 * MIB, 201 * MIB);
	draw(&s, &text);
	assert_non_null(strstr(text.text, "SHARE  IN 978ms"));
	strbuf_clear(&text);
	show(&s, 100 * MIB, 202 * MIB);
	draw(&s, &text);
	assert_non_null(strstr(text.text, "SHARE   IN 1.9s"));
	strbuf_release(&text);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_starts_at_the_largest_owner),
		cmocka_unit_test(the_fastest_growing_owner_takes_precedence),
		cmocka_unit_test(the_cursor_stays_where_the_user_moved_it),
		cmocka_unit_test(a_heading_does_not_touch_the_one_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
