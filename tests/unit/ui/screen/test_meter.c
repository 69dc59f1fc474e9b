/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/meter.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

static const enum role roles[] = { ROLE_OWNER, ROLE_OWNER + 1, ROLE_DIM };

struct look {
	bool is_colored, ascii;
};

static void draw(struct canvas *c, const struct look *look, const uint64_t *parts,
		 uint64_t whole, const char *letters, int width)
{
	const struct meter meter = { parts, strlen(letters), whole, letters, roles };
	struct pen pen;

	canvas_init(c);
	c->is_colored = look->is_colored;
	canvas_begin(c, width, 1, look->ascii);
	pen = canvas_pen(c, 0, 0, width);
	meter_draw(&meter, &pen);
	assert_int_equal(pen.x, width);
}

static void assert_meter(const struct look *look, const uint64_t *parts, uint64_t whole,
			 const char *letters, int width, const char *want)
{
	struct strbuf got = STRBUF_INIT;
	struct canvas canvas;

	draw(&canvas, look, parts, whole, letters, width);
	canvas_add_text(&canvas, &got);
	assert_string_equal(got.text, want);
	strbuf_release(&got);
	canvas_release(&canvas);
}

static const struct look solid = { true, false };

static void segments_are_solid_to_an_eighth_of_a_cell(void **state)
{
	static const uint64_t halves[] = { 50, 50 };
	static const uint64_t eighths[] = { 19, 13 };
	static const uint64_t part[] = { 21 };

	(void)state;
	assert_meter(&solid, halves, 100, "AB", 10, "[A███B███]\n");
	assert_meter(&solid, eighths, 32, "AB", 6, "[A█▍B]\n");
	assert_meter(&solid, part, 32, "A", 6, "[A█▋ ]\n");
}

static void a_shared_cell_has_the_colours_of_both_parts(void **state)
{
	static const uint64_t parts[] = { 19, 13 };
	struct canvas canvas;

	(void)state;
	draw(&canvas, &solid, parts, 32, "AB", 6);
	assert_int_equal(canvas.cells[1].back, CELL_REVERSED);
	assert_int_equal(canvas.cells[2].back, CELL_PLAIN);
	assert_int_equal(canvas.cells[3].role, roles[0]);
	assert_int_equal(canvas.cells[3].back, roles[1] + 1);
	assert_int_equal(canvas.cells[4].role, roles[1]);
	canvas_release(&canvas);
}

static void every_part_is_visible(void **state)
{
	static const uint64_t parts[] = { 1, 1000000 };
	static const uint64_t left[] = { 44, 12, 44 };

	(void)state;
	assert_meter(&solid, parts, 1000001, "AB", 8, "[AB████]\n");
	/* between two others, in a cell that it shares */
	assert_meter(&solid, left, 100, "ABC", 10, "[A██B▌C██]\n");
}

static void free_space_stays_empty(void **state)
{
	static const uint64_t parts[] = { 25, 25, 50 };

	(void)state;
	assert_meter(&solid, parts, 100, "AB.", 10, "[A█B█    ]\n");
}

static void without_colours_or_utf8_letters_fill_the_segments(void **state)
{
	static const uint64_t parts[] = { 50, 25, 25 };
	static const struct look mono = { false, false }, ascii = { true, true };

	(void)state;
	assert_meter(&mono, parts, 100, "AB.", 10, "[AAAABB..]\n");
	assert_meter(&ascii, parts, 100, "AB.", 10, "[AAAABB..]\n");
}

static void unknown_parts_and_narrow_meters_draw_nothing(void **state)
{
	static const uint64_t parts[] = { BYTES_UNKNOWN, BYTES_UNKNOWN };

	(void)state;
	assert_meter(&solid, parts, BYTES_UNKNOWN, "AB", 6, "[    ]\n");
	assert_meter(&solid, parts, 0, "AB", 6, "[    ]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_solid_to_an_eighth_of_a_cell),
		cmocka_unit_test(a_shared_cell_has_the_colours_of_both_parts),
		cmocka_unit_test(every_part_is_visible),
		cmocka_unit_test(free_space_stays_empty),
		cmocka_unit_test(without_colours_or_utf8_letters_fill_the_segments),
		cmocka_unit_test(unknown_parts_and_narrow_meters_draw_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
