/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/graph.h"

#include <string.h>

#include "base/units.h"
#include "render/table/axis.h"
#include "../../support/unit.h"

static void assert_graph(enum graph_style style, int width, int height,
			 const uint64_t *samples, size_t count, const char *want)
{
	const struct graph graph = { samples, count, 100, style };
	const struct area area = { 0, 0, width, height };
	struct canvas canvas;
	struct strbuf got = STRBUF_INIT;

	canvas_init(&canvas);
	canvas_begin(&canvas, width, height, false);
	graph_draw(&graph, &canvas, &area);
	canvas_add_text(&canvas, &got);
	assert_string_equal(got.text, want);
	strbuf_release(&got);
	canvas_release(&canvas);
}

static void braille_has_two_samples_per_cell_and_four_levels(void **state)
{
	static const uint64_t samples[] = { 0, 25, 50, 75, 100, 100 };

	(void)state;
	assert_graph(GRAPH_BRAILLE, 3, 1, samples, 6, "⢀⣴⣿\n");
	assert_graph(GRAPH_BRAILLE, 3, 2, samples, 6, " ⢠⣿\n⢠⣿⣿\n");
}

static void blocks_have_one_sample_per_cell_and_eight_levels(void **state)
{
	static const uint64_t samples[] = { 0, 13, 50, 88, 100 };

	(void)state;
	assert_graph(GRAPH_BLOCK, 5, 1, samples, 5, " ▁▄▇█\n");
}

static void ascii_graphs_have_one_sample_per_cell_and_two_levels(void **state)
{
	static const uint64_t samples[] = { 0, 25, 50, 75, 100 };

	(void)state;
	assert_graph(GRAPH_ASCII, 5, 2, samples, 5, "   .#\n .###\n");
}

static void the_newest_sample_is_at_the_right_and_the_oldest_are_dropped(void **state)
{
	static const uint64_t samples[] = { 100, 100, 0, 100 };

	(void)state;
	assert_graph(GRAPH_BLOCK, 6, 1, samples, 4, "  ██ █\n");
	assert_graph(GRAPH_BLOCK, 2, 1, samples, 4, " █\n");
}

static void a_missing_sample_is_a_gap(void **state)
{
	static const uint64_t samples[] = { 100, BYTES_UNKNOWN, 100 };

	(void)state;
	assert_graph(GRAPH_BLOCK, 3, 1, samples, 3, "█ █\n");
	assert_graph(GRAPH_BLOCK, 3, 1, NULL, 0, "\n");
}

static void a_small_value_is_visible(void **state)
{
	static const uint64_t samples[] = { 1, 0 };

	(void)state;
	assert_graph(GRAPH_BLOCK, 2, 1, samples, 2, "▁\n");
}

static void values_above_the_axis_are_clipped(void **state)
{
	static const uint64_t samples[] = { 1000, BYTES_UNKNOWN - 1 };

	(void)state;
	assert_graph(GRAPH_BLOCK, 2, 1, samples, 2, "██\n");
}

static void the_axis_ends_at_or_above_the_maximum(void **state)
{
	static const uint64_t maxima[] = {
		0,
		1,
		KIB(4),
		KIB(4) + 1,
		KIB(1000),
		KIB(1024) * 1000 + 7,
		UINT64_MAX / 3,
		BYTES_UNKNOWN - 1,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(maxima); i++) {
		uint64_t axis = axis_top_bytes(maxima[i]);

		assert_true(axis >= maxima[i] && axis > 0 && bytes_known(axis));
		if (maxima[i] >= KIB(4) && maxima[i] < UINT64_MAX / 4)
			assert_true(axis <= maxima[i] / 4 * 5 + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(braille_has_two_samples_per_cell_and_four_levels),
		cmocka_unit_test(blocks_have_one_sample_per_cell_and_eight_levels),
		cmocka_unit_test(ascii_graphs_have_one_sample_per_cell_and_two_levels),
		cmocka_unit_test(
			the_newest_sample_is_at_the_right_and_the_oldest_are_dropped),
		cmocka_unit_test(a_missing_sample_is_a_gap),
		cmocka_unit_test(a_small_value_is_visible),
		cmocka_unit_test(values_above_the_axis_are_clipped),
		cmocka_unit_test(the_axis_ends_at_or_above_the_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
