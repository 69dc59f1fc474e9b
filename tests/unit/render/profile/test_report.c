/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/report.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "../../support/made_stacks.h"
#include "render/profile/folded.h"
#include "render/profile/page.h"
#include "render/profile/speedscope.h"
#include "../../support/unit.h"

static char *text_of(const struct profile_report *report)
{
	struct strbuf out = STRBUF_INIT;

	profile_report_add_text(&out, report);
	return strbuf_take(&out);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no\n%s\nin\n%s", part, text);
}

static void an_exact_profile_is_reported_as_exact(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	(void)state;
	made_stacks(&p, "main;f 3 4096\nmain 1 0\n");
	p.command = profile_string(&p, "prog\x1b[2J -x");
	p.pid = 42;
	p.elapsed_ns = UINT64_C(1500000000);
	p.lost_count = 1;
	text = text_of(&(struct profile_report){ .profile = &p, .top = 10 });
	assert_has(text,
		   "prog\\x1b[2J -x: pid 42, 1.5s\nexact: each allocation was recorded\n"
		   "1 allocation has no stack: the memory for stacks was full\n\n"
		   "allocations                        4\n"
		   "requested bytes                 4.0K\n\n"
		   "By function: allocations");
	assert_has(text, "             3  75.0%             3  75.0%  f\n"
			 "             1  25.0%             4 100.0%  main\n");
	assert_null(strstr(text, "live"));
	assert_null(strstr(text, "more"));
	profile_release(&p);
}

static void allocations_without_a_stack_have_a_line(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	(void)state;
	made_stacks(&p, "main 3\n");
	p.nodes[0].values[PROFILE_ALLOCATIONS] = 1;
	text = text_of(&(struct profile_report){ .profile = &p, .top = 10 });
	assert_has(text,
		   " 75.0%              3  main\n 25.0%              1  [no stack]\n");
	profile_release(&p);
}

static void an_estimate_is_reported_with_its_error(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct profile p;

	(void)state;
	made_stacks(&p, "main;f 10000 52428800\n");
	p.command = profile_string(&p, "prog");
	p.sample_bytes = 512 * 1024;
	p.sample_count = 100;
	p.cut_count = 7;
	text = text_of(&(struct profile_report){
		.profile = &p, .top = 10, .metric = PROFILE_BYTES });
	/* 1.96 / sqrt(100) */
	assert_has(text,
		   "estimate: from 100 samples, one per 512.0K on average; bytes "
		   "±19.6% or less, in 19 of 20 cases\n"
		   "7 allocations have an incomplete stack, which begins with [cut]");
	assert_null(strstr(text, "exact"));
	profile_release(&p);
}

static void unknown_values_are_empty_or_null(void **state)
{
	struct column_list columns;
	_cleanup_strbuf_ struct strbuf csv = STRBUF_INIT, json = STRBUF_INIT;
	struct profile p;
	const struct profile_report report = { .profile = &p };

	(void)state;
	made_stacks(&p, "a\"b,c 3 77\n");
	column_list_all(&profile_columns, &columns);
	profile_report_add_csv(&csv, &report, &columns);
	profile_report_add_json(&json, &report, &columns);
	assert_string_equal(csv.text, "\"a\"\"b,c\",,,3,3,77,77,,,,,,,,\n");
	assert_has(json.text, "\"self_allocations\":3,\"total_allocations\":3,"
			      "\"self_requested_bytes\":77,\"total_requested_bytes\":77,"
			      "\"self_temporary_blocks\":null,");
	assert_has(json.text, "\"quality\":null,");
	column_list_release(&columns);
	profile_release(&p);
}

static void long_names_are_shortened_in_the_middle(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		bool ascii;
		const char *shown;
	} rows[] = {
		{ "abcdefghij", 10, false, "abcdefghij" },
		{ "abcdefghij", 0, false, "abcdefghij" },
		{ "abcdefghijk", 10, false, "abcde…hijk" },
		{ "abcdefghijk", 10, true, "abcd...ijk" },
		{ "a日日日日日日b", 9, false, "a日…日b" },
		{ "tab\there", 20, false, "tab\\x09here" },
		{ "", 20, false, "[no name]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		profile_add_name(&out, rows[i].name, rows[i].width, rows[i].ascii);
		assert_string_equal(out.text, rows[i].shown);
	}
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	struct strbuf stacks = STRBUF_INIT;
	_cleanup_free_ char *text = NULL;
	struct profile p;

	(void)state;
	/* Each stack branches off once: the deepest possible tree, with long names. */
	for (int i = 0; i < 60; i++) {
		for (int k = 0; k <= i; k++)
			strbuf_addf(&stacks, "%sa_function_with_a_rather_long_name_%d",
				    k ? ";" : "", k);
		strbuf_addf(&stacks, " 100\n");
	}
	made_stacks(&p, stacks.text);
	text = text_of(&(struct profile_report){
		.profile = &p, .top = 100, .options.max_width = 80 });
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (text_display_width(line, strlen(line)) > 80)
			fail_msg("too wide: %s", line);
	strbuf_release(&stacks);
	profile_release(&p);
}

/* The output is safe for any viewer, and memstate can read its own output. */
static void folded_stacks_add_up_and_are_escaped(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct profile p;
	struct profile_frame frame = { .function = "a;b\nc\xff",
				       .module = PROFILE_NO_MODULE };
	uint32_t node;

	(void)state;
	made_stacks(&p, "main;z 1\nmain;b x 2\nmain 3\na 4\n");
	node = profile_add_node(&p, 0, profile_add_frame(&p, &frame));
	p.nodes[node].values[PROFILE_ALLOCATIONS] = 5;
	p.nodes[0].values[PROFILE_ALLOCATIONS] = 6;
	folded_add(&out, &p, PROFILE_ALLOCATIONS);
	assert_string_equal(
		out.text,
		"[no stack] 6\na 4\na:b\\x0ac\\xff 5\nmain 3\nmain;b x 2\nmain;z 1\n");
	profile_release(&p);
}

static void speedscope_has_a_profile_for_each_metric(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct profile p;

	(void)state;
	made_stacks(&p, "main;f 2 64\nmain 1 0\n");
	p.nodes[0].values[PROFILE_BYTES] = 8;
	p.command = profile_string(&p, "x \"y\"");
	speedscope_add(&out, &p, PROFILE_BYTES);
	assert_string_equal(
		out.text,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"memstate " PACKAGE_VERSION "\",\n"
		"\"name\":\"x \\\"y\\\"\",\n"
		"\"shared\":{\"frames\":[\n"
		"{\"name\":\"f\"},\n{\"name\":\"main\"},\n{\"name\":\"[no stack]\"}]},\n"
		"\"profiles\":[\n"
		"{\"type\":\"sampled\",\"name\":\"allocations\",\"unit\":\"none\","
		"\"startValue\":0,\"endValue\":3,\"samples\":[\n[1],\n[1,0]],\n\"weights\":[1,2]},\n"
		"{\"type\":\"sampled\",\"name\":\"requested bytes\",\"unit\":\"bytes\","
		"\"startValue\":0,\"endValue\":72,\"samples\":[\n[2],\n[1,0]],\n\"weights\":[8,64]}],\n"
		"\"activeProfileIndex\":1}\n");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exact_profile_is_reported_as_exact),
		cmocka_unit_test(allocations_without_a_stack_have_a_line),
		cmocka_unit_test(an_estimate_is_reported_with_its_error),
		cmocka_unit_test(unknown_values_are_empty_or_null),
		cmocka_unit_test(long_names_are_shortened_in_the_middle),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(folded_stacks_add_up_and_are_escaped),
		cmocka_unit_test(speedscope_has_a_profile_for_each_metric),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
