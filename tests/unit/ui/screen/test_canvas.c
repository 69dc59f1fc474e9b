/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/canvas.h"

#include <locale.h>
#include <string.h>

#include "../../support/unit.h"

static struct canvas canvas;

static void assert_lines(const char *want)
{
	struct strbuf got = STRBUF_INIT;

	canvas_add_text(&canvas, &got);
	assert_string_equal(got.text, want);
	strbuf_release(&got);
}

static void text_is_truncated_at_the_pens_right_edge(void **state)
{
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 10, 2, false);
	pen = canvas_pen(&canvas, 2, 0, 4);
	pen_add(&pen, "abcdefgh");
	pen = canvas_pen(&canvas, 7, 1, 100);
	pen_add(&pen, "abcdefgh");
	assert_lines("  abcd\n       abc\n");
}

static void drawing_outside_the_canvas_has_no_effect(void **state)
{
	const struct area everywhere = { -5, -5, 100, 100 };
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 3, 2, true);
	canvas_put(&canvas, -1, 0, ROLE_TEXT, 'x');
	canvas_put(&canvas, 3, 0, ROLE_TEXT, 'x');
	canvas_put(&canvas, 0, 2, ROLE_TEXT, 'x');
	pen = canvas_pen(&canvas, 0, 7, 3);
	pen_add(&pen, "xyz");
	assert_lines("\n\n");
	canvas_fill(&canvas, &everywhere, ROLE_TEXT, 'o');
	assert_lines("ooo\nooo\n");
}

static void wide_characters_take_two_columns_or_are_omitted(void **state)
{
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 6, 2, false);
	pen = canvas_pen(&canvas, 0, 0, 6);
	pen_add(&pen, "日本x語");
	assert_int_equal(canvas.cells[0].width, 2);
	assert_int_equal(canvas.cells[1].width, 0);
	pen = canvas_pen(&canvas, 0, 1, 3);
	pen_add(&pen, "日本");
	assert_lines("日本x\n日\n");
}

static void a_number_that_does_not_fit_is_omitted(void **state)
{
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 12, 1, false);
	pen = canvas_pen(&canvas, 0, 0, 12);
	pen_add_right(&pen, 8, "1234");
	pen_add_right(&pen, 8, "5678");
	assert_lines("    1234\n");
}

static void foreign_text_is_escaped_and_truncation_is_marked(void **state)
{
	static const char evil[] = "a\033[31m\nb";
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 20, 3, false);
	pen = canvas_pen(&canvas, 0, 0, 20);
	pen_add_foreign(&pen, evil, strlen(evil));
	pen = canvas_pen(&canvas, 0, 1, 5);
	pen_add_foreign(&pen, "/usr/lib/libc.so", 16);
	pen = canvas_pen(&canvas, 0, 2, 8);
	pen_add_foreign_end(&pen, "/usr/lib/libc.so", 16);
	assert_lines("a\\x1b[31m\\x0ab\n/usr…\n…libc.so\n");
}

static void ascii_mode_draws_only_ascii(void **state)
{
	const struct area box = { 0, 1, 6, 3 };
	struct pen pen;

	(void)state;
	canvas_begin(&canvas, 8, 4, true);
	pen = canvas_pen(&canvas, 0, 0, 8);
	pen_add_foreign(&pen, "ä/日本語", strlen("ä/日本語"));
	canvas_box(&canvas, &box, "t");
	for (int i = 0; i < canvas.width * canvas.height; i++)
		assert_in_range(canvas.cells[i].code_point, 0x20, 0x7e);
}

static void a_canvas_can_grow_and_shrink(void **state)
{
	(void)state;
	canvas_begin(&canvas, 300, 100, false);
	canvas_begin(&canvas, 0, -1, false);
	assert_int_equal(canvas.width, 1);
	assert_int_equal(canvas.height, 1);
	assert_lines("\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_truncated_at_the_pens_right_edge),
		cmocka_unit_test(drawing_outside_the_canvas_has_no_effect),
		cmocka_unit_test(wide_characters_take_two_columns_or_are_omitted),
		cmocka_unit_test(a_number_that_does_not_fit_is_omitted),
		cmocka_unit_test(foreign_text_is_escaped_and_truncation_is_marked),
		cmocka_unit_test(ascii_mode_draws_only_ascii),
		cmocka_unit_test(a_canvas_can_grow_and_shrink),
	};
	int failed;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	canvas_init(&canvas);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	canvas_release(&canvas);
	return failed;
}
