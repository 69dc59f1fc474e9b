/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/compare/report.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "../../support/made_comparison.h"
#include "../../support/unit.h"

static void make(struct comparison *c)
{
	const struct made_run kept = { 66 * MIB, 66 * MIB, 66 * MIB,
				       64 * MIB, 64 * MIB, 2 * MIB };
	const struct made_run given_back = {
		66 * MIB, 66 * MIB, 6 * MIB, BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN
	};

	made_init(c, "work \x1b[31m<b>\xff");
	made_add_variant(c, "glibc", ALLOCATOR_GLIBC);
	for (int i = 0; i < 3; i++)
		made_add_whole_run(c, &kept);
	c->runs[1].peak_rss_bytes = 68 * MIB;
	made_add_variant(c, "jemalloc:muzzy_decay_ms=60000", ALLOCATOR_JEMALLOC);
	for (int i = 0; i < 3; i++)
		made_add_whole_run(c, &given_back);
	c->runs[5].problem = "the command failed";
}

enum form {
	FORM_TEXT,
	FORM_TABLE,
	FORM_CSV,
	FORM_JSON
};

/* Return the comparison as text. The caller frees it. */
static char *render(const struct comparison *c, enum form form,
		    const struct table_options *options, const char *names)
{
	struct column_list columns = COLUMN_LIST_INIT;
	struct strbuf out = STRBUF_INIT;
	struct compared compared;
	struct verdicts verdicts;
	const struct compare_view view = { c, &compared, &verdicts };
	char *bad;

	compared_init(&compared, c);
	verdicts_init(&verdicts, &compared);
	if (names)
		assert_int_equal(
			column_list_parse(&compare_columns, "", names, &columns, &bad),
			0);
	else
		column_list_all(&compare_columns, &columns);
	switch (form) {
	case FORM_TEXT: compare_report_add(&out, &view, options); break;
	case FORM_TABLE: compare_add_table(&out, &view, &columns, options); break;
	case FORM_CSV:
		compare_add_csv(&out, &view, &columns, options->no_headings);
		break;
	case FORM_JSON: compare_add_json(&out, &view, &columns); break;
	}
	verdicts_release(&verdicts);
	compared_release(&compared);
	column_list_release(&columns);
	return strbuf_take(&out);
}

/* The expected report on make(), written by hand line by line. */
static const char report_text[] =
	"Rss under jemalloc:muzzy_decay_ms=60000 settles 91% lower than under glibc (6.0M\n"
	"against 66.0M); the composition of Rss under jemalloc:muzzy_decay_ms=60000 is\n"
	"unknown.\n"
	"\n"
	"Command   work \\x1b[31m<b>\\xff\n"
	"Settled   for 1.0s\n"
	"Figures   medians of the good runs, +- half the range from lowest to highest\n"
	"Also      After settling, live and free heap memory cannot be distinguished\n"
	"          under jemalloc:muzzy_decay_ms=60000: both are in anon.\n"
	"\n"
	"                              glibc      jemalloc:\n"
	"                                      muzzy_decay_\n"
	"                                          ms=60000\n"
	"good runs                    3 of 3         2 of 3\n"
	"wall time                 1.0s +-0%      1.0s +-0%\n"
	"CPU time               500.0ms +-0%   500.0ms +-0%\n"
	"minor faults                 0 +-0%         0 +-0%\n"
	"peak Rss                 66.0M +-2%     66.0M +-0%\n"
	"Rss at the end           66.0M +-0%     66.0M +-0%\n"
	"Rss settled              66.0M +-0%      6.0M +-0%\n"
	"late live                64.0M +-0%              -\n"
	"in the largest sample\n"
	"Rss                      66.0M +-0%     66.0M +-0%\n"
	"  live                   64.0M +-0%              -\n"
	"  pool_pages              2.0M +-0%              -\n"
	"  pool_fragments             0 +-0%              -\n"
	"  heap_meta                  0 +-0%              -\n"
	"  stack                      0 +-0%         0 +-0%\n"
	"  anon                       0 +-0%     66.0M +-0%\n"
	"  file                       0 +-0%         0 +-0%\n"
	"after settling\n"
	"Rss                      66.0M +-0%      6.0M +-0%\n"
	"  live                    2.0M +-0%              -\n"
	"  pool_pages             64.0M +-0%              -\n"
	"  pool_fragments             0 +-0%              -\n"
	"  heap_meta                  0 +-0%              -\n"
	"  stack                      0 +-0%         0 +-0%\n"
	"  anon                       0 +-0%      6.0M +-0%\n"
	"  file                       0 +-0%         0 +-0%\n"
	"\n"
	"Rss of the good runs, one line each, over 2.0s\n"
	"glibc\n"
	"   80.0M |                 .....................................................\n"
	"         |             ..:''\n"
	"         |         ..:''\n"
	"         |     ..:''\n"
	"       0 |...:''\n"
	"jemalloc:muzzy_decay_ms=60000\n"
	"   80.0M |                 ......................\n"
	"         |             ..:''                    '':..\n"
	"         |         ..:''                            '':..\n"
	"         |     ..:''                                    '':..\n"
	"       0 |...:''                                            '':.................\n";

static void the_report_has_verdict_table_and_graphs(void **state)
{
	const struct table_options options = { .ascii = true, .max_width = 80 };
	struct comparison c;
	char *text;

	(void)state;
	make(&c);
	text = render(&c, FORM_TEXT, &options, NULL);
	assert_string_equal(text, report_text);
	free(text);
	comparison_release(&c);
}

static void assert_begins(const char *text, const char *begin)
{
	assert_memory_equal(text, begin, strlen(begin));
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		size_t width = text_display_width(text, length);

		widest = width > widest ? width : widest;
		text += length + (text[length] == '\n');
	}
	return widest;
}

static void many_variants_fit_into_the_width(void **state)
{
	const struct made_run run = { MIB, 1023 * MIB, MIB, MIB, MIB, MIB };
	static const int widths[] = { 60, 80, 132 };
	struct comparison c;

	(void)state;
	make(&c);
	for (int v = 0; v < 7; v++) {
		made_add_variant(&c, "/opt/a/rather/long/path/to/a/libmalloc.so",
				 ALLOCATOR_UNKNOWN);
		made_add_whole_run(&c, &run);
		made_add_whole_run(&c, &run)->peak_rss_bytes = 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		const struct table_options options = { .max_width = widths[i] };
		char *text = render(&c, FORM_TEXT, &options, NULL);

		assert_true(widest_line(text) <= (size_t)widths[i]);
		assert_non_null(strstr(text, "libmalloc.so"));
		free(text);
	}
	comparison_release(&c);
}

static void a_spread_far_above_the_median_is_an_amount(void **state)
{
	static const struct {
		uint64_t high, low;
		const char *cell;
	} rows[] = {
		{ 20 * MIB, 2 * MIB, " 2.0M +-450%" },
		{ 100 * MIB, 2 * MIB, " 2.0M +-49.0M" },
		{ 6 * MIB, 0, " 0 +-3.0M" },
		{ 0, 0, " 0 +-0%" },
	};
	const struct table_options options = { .ascii = true, .max_width = 80 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct made_run high = { 200 * MIB, 200 * MIB, 200 * MIB,
					       200 * MIB, 200 * MIB, rows[i].high };
		struct made_run low = high;
		struct comparison c;
		char *text;

		low.live_settled = rows[i].low;
		made_init(&c, "work");
		made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
		made_add_whole_run(&c, &low);
		made_add_whole_run(&c, &low);
		made_add_whole_run(&c, &high);
		text = render(&c, FORM_TEXT, &options, NULL);
		assert_row(strstr(text, rows[i].cell) != NULL, rows[i].cell);
		free(text);
		comparison_release(&c);
	}
}

static void csv_rows_are_the_runs_and_their_statistics(void **state)
{
	const struct table_options options = { 0 };
	struct comparison c;
	char *text;

	(void)state;
	make(&c);
	text = render(
		&c, FORM_CSV, &options,
		"variant,statistic,run,good_runs,problem,peak_rss_bytes,settled_live_bytes");
	assert_string_equal(
		text,
		"variant,statistic,run,good_runs,problem,peak_rss_bytes,settled_live_bytes\n"
		"glibc,run,1,,,69206016,2097152\n"
		"glibc,run,2,,,71303168,2097152\n"
		"glibc,run,3,,,69206016,2097152\n"
		"glibc,median,,3,,69206016,2097152\n"
		"glibc,min,,3,,69206016,2097152\n"
		"glibc,max,,3,,71303168,2097152\n"
		"jemalloc:muzzy_decay_ms=60000,run,1,,,69206016,\n"
		"jemalloc:muzzy_decay_ms=60000,run,2,,,69206016,\n"
		"jemalloc:muzzy_decay_ms=60000,run,3,,the command failed,69206016,\n"
		"jemalloc:muzzy_decay_ms=60000,median,,2,,69206016,\n"
		"jemalloc:muzzy_decay_ms=60000,min,,2,,69206016,\n"
		"jemalloc:muzzy_decay_ms=60000,max,,2,,69206016,\n");
	free(text);
	text = render(&c, FORM_TABLE, &options, "variant,statistic,at_end_rss_bytes");
	assert_begins(text, "VARIANT");
	assert_non_null(strstr(text, "\nglibc                         median  66.0M\n"));
	free(text);
	comparison_release(&c);
}

static void a_warm_up_has_no_row(void **state)
{
	const struct table_options options = { .no_headings = true };
	struct comparison c;
	char *text;

	(void)state;
	make(&c);
	c.runs[0].is_warm_up = true;
	text = render(&c, FORM_CSV, &options, "variant,statistic,run");
	assert_begins(text, "glibc,run,2\n");
	free(text);
	comparison_release(&c);
}

static void json_starts_with_the_command_and_the_verdict(void **state)
{
	const struct table_options options = { 0 };
	struct comparison c;
	char *text, *end;

	(void)state;
	make(&c);
	c.above_bytes = MIB;
	text = render(&c, FORM_JSON, &options,
		      "variant,statistic,settled_live_bytes,wall_s");
	end = strstr(text, ",\"settle_s\"");
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(
		strstr(text, ",\"command\""),
		",\"command\":\"work \\u001b[31m<b>\\\\xff\",\"workload\":null");
	assert_begins(
		end + 1,
		"\"settle_s\":1.000,\"above_bytes\":1048576,\"verdict\":[{\"rule\":\"lower\","
		"\"text\":\"Rss under jemalloc:");
	assert_non_null(strstr(end + 1,
			       "{\"variant\":\"glibc\",\"statistic\":\"max\","
			       "\"settled_live_bytes\":2097152,\"wall_s\":1.000}"));
	assert_non_null(
		strstr(end + 1, "\"statistic\":\"max\",\"settled_live_bytes\":null"));
	free(text);
	comparison_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_has_verdict_table_and_graphs),
		cmocka_unit_test(many_variants_fit_into_the_width),
		cmocka_unit_test(a_spread_far_above_the_median_is_an_amount),
		cmocka_unit_test(csv_rows_are_the_runs_and_their_statistics),
		cmocka_unit_test(a_warm_up_has_no_row),
		cmocka_unit_test(json_starts_with_the_command_and_the_verdict),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
