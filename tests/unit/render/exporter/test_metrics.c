/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/unit.h"

static struct exporter_look look;
static struct strbuf out;

static void add_group(const char *group, uint64_t rss_bytes)
{
	struct group_name name = { .group = NULL };
	struct usage u;

	usage_init(&u);
	u.source = SOURCE_ROLLUP;
	u.process.start_ticks = 100;
	u.taken_ns = 5 * NS_PER_S;
	u.total.bytes[SMAPS_RSS] = rss_bytes;
	u.state_bytes[STATE_PRIVATE_DIRTY] = rss_bytes;
	group_name_set_word(&name, group);
	named_groups_add(&look.groups, &name, &u);
	group_name_release(&name);
	usage_release(&u);
}

static void add_cgroup(const char *group)
{
	static const struct oom_figures figures = {
		.usage_bytes = 80,
		.need_bytes = 50,
		.limit_bytes = 100,
		.unexplained_bytes = -3,
		.hidden_bytes = BYTES_UNKNOWN,
	};
	const struct cgroup_counts zero = { { 0, 0, COUNT_UNKNOWN, COUNT_UNKNOWN } };
	struct group_name name = { .group = NULL };

	group_name_set_word(&name, group);
	named_cgroups_add(&look.cgroups, &name, &figures, &zero, NS_PER_S);
	group_name_release(&name);
}

static int begin(void **state)
{
	(void)state;
	exporter_look_init(&look);
	look.taken_ns = 7 * NS_PER_S;
	look.unix_ms = 1700000000123;
	named_groups_begin(&look.groups);
	named_cgroups_begin(&look.cgroups);
	return 0;
}

static int end(void **state)
{
	(void)state;
	exporter_look_release(&look);
	strbuf_release(&out);
	return 0;
}

static size_t show(enum exposition_format format, size_t series_max)
{
	const struct metric_limits limits = { series_max, 50 };
	const struct metric_limits most = { series_max, 100 };

	named_groups_end(&look.groups, metrics_groups_max(&limits, &look),
			 metrics_groups_max(&most, &look), look.taken_ns);
	named_cgroups_end(&look.cgroups, NS_PER_S);
	strbuf_clear(&out);
	return metrics_add(&out, format, &look, &limits);
}

static void assert_has(const char *line)
{
	if (!strstr(strbuf_text(&out), line))
		fail_msg("no line %s in:\n%s", line, strbuf_text(&out));
}

static void the_text_format_names_the_samples(void **state)
{
	(void)state;
	add_group("a", 4096);
	add_cgroup("a");
	show(EXPOSITION_TEXT, 5000);
	assert_has("# HELP memstate_group_resident_bytes Resident memory of the group's "
		   "processes by kernel page state. The sum over the states is Rss.\n"
		   "# TYPE memstate_group_resident_bytes gauge\n"
		   "memstate_group_resident_bytes{group=\"a\",state=\"private_dirty\"} "
		   "4096\n");
	assert_has("# TYPE memstate_cgroup_oom_kills_total counter\n"
		   "memstate_cgroup_oom_kills_total{group=\"a\"} 0\n");
	assert_has("# TYPE memstate_build_info gauge\n");
	assert_has("memstate_group_age_seconds{group=\"a\"} 2.000000\n");
	assert_has("memstate_collect_timestamp_seconds 1700000000.123\n");
	assert_has("memstate_cgroup_memory_bytes{group=\"a\",part=\"unexplained\"} -3\n");
	assert_null(strstr(out.text, "# UNIT"));
	assert_null(strstr(out.text, "# EOF"));
}

static void openmetrics_names_the_families_and_ends_with_eof(void **state)
{
	(void)state;
	add_group("a", 4096);
	add_cgroup("a");
	look.verdict_kills[OOM_WHY_LEAK] =
		(struct look_kill){ 42, 1700000000500, "a\"b" };
	look.verdict_counts[OOM_WHY_LEAK] = 2;
	show(EXPOSITION_OPENMETRICS, 5000);
	assert_has("# TYPE memstate_group_resident_bytes gauge\n"
		   "# UNIT memstate_group_resident_bytes bytes\n"
		   "# HELP memstate_group_resident_bytes ");
	assert_has("# TYPE memstate_cgroup_oom_kills counter\n");
	assert_has("memstate_cgroup_oom_kills_total{group=\"a\"} 0\n");
	assert_has("# TYPE memstate_build info\n");
	assert_has("memstate_oom_verdicts_total{verdict=\"leak\"} 2 # "
		   "{pid=\"42\",group=\"a\\\"b\"} 1 1700000000.500\n");
	assert_string_equal(out.text + out.length - 6, "# EOF\n");
}

static void absent_is_not_zero(void **state)
{
	(void)state;
	add_cgroup("a");
	look.cgroups.items[0]->figures.limit_bytes = CGROUP_NO_LIMIT;
	show(EXPOSITION_TEXT, 5000);
	assert_null(strstr(out.text, "memstate_cgroup_limit_bytes"));
	assert_null(strstr(out.text, "memstate_cgroup_hidden_bytes"));
	assert_null(strstr(out.text, "memstate_cgroup_memory_waiting_seconds"));
	assert_null(strstr(out.text, "memstate_cgroup_limit_eta_seconds"));
	assert_null(strstr(out.text, "memstate_cgroup_need_growth"));
	assert_has("memstate_cgroup_usage_bytes{group=\"a\"} 80\n");
}

static void all_verdicts_exist_from_the_start(void **state)
{
	(void)state;
	show(EXPOSITION_TEXT, 5000);
	for (int i = 0; i < OOM_VERDICT_COUNT_; i++) {
		char line[100];

		snprintf(line, sizeof(line),
			 "memstate_oom_verdicts_total{verdict=\"%s\"} 0\n",
			 oom_verdicts[i].name);
		assert_has(line);
	}
}

/* Return the sum over the samples of the state private_dirty. */
static uint64_t sum_resident(void)
{
	static const char begin_text[] = "memstate_group_resident_bytes{";
	uint64_t sum = 0;

	for (const char *at = out.text; (at = strstr(at, begin_text)); at++) {
		const char *end_of_labels = strstr(at, "} ");

		sum += strtoull(end_of_labels + 2, NULL, 10);
	}
	return sum;
}

static void never_more_series_than_promised_and_the_sum_is_whole(void **state)
{
	static const size_t maxima[] = { 200, 300, 1000, 5000, 20000 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[20];

		snprintf(name, sizeof(name), "group %d", i);
		add_group(name, 1000 + (uint64_t)i);
		add_cgroup(name);
	}
	for (size_t i = 0; i < 2 * sizeof(maxima) / sizeof(maxima[0]); i++) {
		size_t count, max = maxima[i / 2];

		look.has_owners = look.has_heaps = i % 2;
		look.groups.look_count = 0;
		for (size_t g = 0; g < look.groups.count; g++)
			look.groups.items[g]->is_shown = false;
		look.groups.rest = (struct group_sums){ .oldest_taken_ns = UINT64_MAX };
		count = show(EXPOSITION_TEXT, max);
		assert_true(count <= max);
		assert_true(count > max / 3 || max < 1000 || max > 5000);
		assert_int_equal(sum_resident(), 1000 * 1000 + 499500);
	}
}

static void heaps_add_owners_and_a_histogram(void **state)
{
	(void)state;
	add_group("a", 4096);
	look.has_owners = look.has_heaps = true;
	look.pauses.counts[1] = 2;
	look.pauses.counts[LOOK_PAUSE_BUCKETS - 1] = 1;
	look.pauses.sum_ns = 5004 * NS_PER_MS;
	show(EXPOSITION_OPENMETRICS, 5000);
	assert_has("memstate_group_owner_bytes{group=\"a\",memory_owner=\"live\"} 0\n");
	assert_has("memstate_group_owner_bytes{group=\"a\",memory_owner=\"unknown\"} "
		   "4096\n");
	assert_has("memstate_group_owners_known_processes{group=\"a\"} 0\n");
	assert_has("memstate_collect_duration_seconds{stage=\"owners\"} 0.000000\n");
	assert_has("# TYPE memstate_heap_pause_seconds histogram\n"
		   "# UNIT memstate_heap_pause_seconds seconds\n");
	assert_has("memstate_heap_pause_seconds_bucket{le=\"0.001\"} 0\n"
		   "memstate_heap_pause_seconds_bucket{le=\"0.005\"} 2\n");
	assert_has("memstate_heap_pause_seconds_bucket{le=\"1.0\"} 2\n"
		   "memstate_heap_pause_seconds_bucket{le=\"+Inf\"} 3\n"
		   "memstate_heap_pause_seconds_count 3\n"
		   "memstate_heap_pause_seconds_sum 5.004000\n");
	look.has_heaps = false;
	show(EXPOSITION_OPENMETRICS, 5000);
	assert_null(strstr(out.text, "heap"));
	assert_null(strstr(out.text, "live\""));
	assert_has("stage=\"owners\"");
	look.has_owners = false;
	show(EXPOSITION_OPENMETRICS, 5000);
	assert_null(strstr(out.text, "owner"));
}

static void quotes_backslashes_and_newlines_are_escaped(void **state)
{
	(void)state;
	exposition_add_label(&out, "a", "1\\2\"3\n4");
	exposition_add_label(&out, "b", "");
	assert_string_equal(out.text, "a=\"1\\\\2\\\"3\\n4\",b=\"\"");
}

static void units_are_suffixes_and_help_is_one_line(void **state)
{
	(void)state;
	for (int i = 0; i < METRIC_COUNT_; i++) {
		const struct metric_family *f = &metric_families[i];
		size_t name = strlen(f->name), unit = strlen(f->unit);

		assert_non_null(f->help);
		assert_null(strchr(f->help, '\n'));
		assert_null(strchr(f->help, '\\'));
		assert_true(unit < name);
		assert_string_equal(f->name + name - unit, f->unit);
		assert_true(unit == 0 || f->name[name - unit - 1] == '_');
		assert_null(strstr(f->name, "_total"));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(f->name, metric_families[k].name);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(the_text_format_names_the_samples),
		TEST(openmetrics_names_the_families_and_ends_with_eof),
		TEST(absent_is_not_zero),
		TEST(all_verdicts_exist_from_the_start),
		TEST(never_more_series_than_promised_and_the_sum_is_whole),
		TEST(heaps_add_owners_and_a_histogram),
		TEST(quotes_backslashes_and_newlines_are_escaped),
		TEST(units_are_suffixes_and_help_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
