/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../support/unit.h"

static struct metric_selection selection;
static struct strbuf problem, out;

static int begin(void **state)
{
	(void)state;
	selection = (struct metric_selection){ .has_owners = false };
	return 0;
}

static int end(void **state)
{
	(void)state;
	strbuf_release(&problem);
	strbuf_release(&out);
	return 0;
}

static void add(const char *key, const char *value)
{
	assert_int_equal(metric_selection_add(&selection, key, value, &problem), 0);
}

static void assert_refused(const char *key, const char *value, const char *message)
{
	strbuf_clear(&problem);
	assert_int_equal(metric_selection_add(&selection, key, value, &problem), -EINVAL);
	assert_string_equal(strbuf_text(&problem), message);
}

static const char *copy(const char *text)
{
	strbuf_clear(&out);
	metric_selection_copy(&selection, text, strlen(text), &out);
	return strbuf_text(&out);
}

#define PSS                                                      \
	"# HELP memstate_group_pss_bytes A # TYPE b\n"           \
	"# TYPE memstate_group_pss_bytes gauge\n"                \
	"memstate_group_pss_bytes{group=\"# TYPE x # EOF\"} 4\n" \
	"memstate_group_pss_bytes{group=\"b\"} 5\n"
#define BUILD                                \
	"# HELP memstate_build_info A.\n"    \
	"# TYPE memstate_build_info gauge\n" \
	"memstate_build_info{version=\"1\"} 1\n"
#define NEED                                        \
	"# TYPE memstate_cgroup_need_bytes gauge\n" \
	"# UNIT memstate_cgroup_need_bytes bytes\n" \
	"# HELP memstate_cgroup_need_bytes A.\n"    \
	"memstate_cgroup_need_bytes{group=\"a\"} 7\n"
#define KILLS                                        \
	"# TYPE memstate_cgroup_oom_kills counter\n" \
	"# HELP memstate_cgroup_oom_kills A.\n"      \
	"memstate_cgroup_oom_kills_total{group=\"a\"} 0\n"
#define PAUSE                                                 \
	"# TYPE memstate_heap_pause_seconds histogram\n"      \
	"memstate_heap_pause_seconds_bucket{le=\"+Inf\"} 3\n" \
	"memstate_heap_pause_seconds_count 3\n"
#define END "# EOF\n"

static void without_parameters_everything_is_selected(void **state)
{
	(void)state;
	assert_true(metric_selection_is_all(&selection));
	add("target", "a");
	add("collect", "processes");
	add("name", NULL);
	assert_true(metric_selection_is_all(&selection));
	assert_string_equal(copy(PSS NEED KILLS END), PSS NEED KILLS END);
}

static void collectors_are_added_up(void **state)
{
	(void)state;
	add("collect[]", "processes");
	assert_false(metric_selection_is_all(&selection));
	assert_string_equal(copy(PSS NEED KILLS BUILD END), PSS END);
	add("collect[]", "exporter");
	assert_string_equal(copy(PSS NEED KILLS BUILD), PSS BUILD);
	add("collect[]", "cgroups");
	assert_string_equal(copy(PSS NEED KILLS BUILD END), PSS NEED KILLS BUILD END);
}

static void names_are_those_of_families_and_samples(void **state)
{
	(void)state;
	add("name[]", "memstate_cgroup_oom_kills_total");
	assert_string_equal(copy(PSS NEED KILLS BUILD END), KILLS END);
	add("name[]", "memstate_build");
	assert_string_equal(copy(PSS NEED KILLS BUILD END), KILLS BUILD END);
	selection.has_heaps = true;
	add("name[]", "memstate_heap_pause_seconds_bucket");
	assert_string_equal(copy(PAUSE PSS), PAUSE);
}

static void a_family_is_selected_by_both_parameters(void **state)
{
	(void)state;
	add("name[]", "memstate_cgroup_need_bytes");
	add("name[]", "memstate_build_info");
	add("collect[]", "cgroups");
	assert_string_equal(copy(PSS NEED KILLS BUILD END), NEED END);
	selection.collectors[METRIC_COLLECTOR_CGROUPS] = false;
	assert_string_equal(copy(PSS NEED KILLS BUILD END), END);
	assert_string_equal(copy(PSS NEED), "");
}

static void wrong_names_are_refused(void **state)
{
	char name[300], message[200];

	(void)state;
	assert_refused("collect[]", "cpu", "collect[]=cpu: unknown collector");
	assert_refused("collect[]", "", "collect[]=: unknown collector");
	assert_refused("collect[]", NULL, "collect[]=: unknown collector");
	assert_refused("collect[]", "processes ",
		       "collect[]=processes : unknown collector");
	assert_refused("name[]", "up", "name[]=up: unknown metric");
	assert_refused("name[]", "memstate_group_pss_bytes_total",
		       "name[]=memstate_group_pss_bytes_total: unknown metric");
	assert_refused("name[]", "memstate_group_pss_bytes_bucket",
		       "name[]=memstate_group_pss_bytes_bucket: unknown metric");
	assert_refused("name[]", "a\nb\xff", "name[]=a\\x0ab\\xff: unknown metric");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(message, sizeof(message), "name[]=%.100s: unknown metric", name);
	assert_refused("name[]", name, message);
	assert_true(metric_selection_is_all(&selection));
}

static void families_without_their_option_are_refused(void **state)
{
	(void)state;
	assert_refused("collect[]", "owners",
		       "collect[]=owners: the exporter runs without --owners");
	assert_refused("name[]", "memstate_group_trimmable_bytes",
		       "name[]=memstate_group_trimmable_bytes: the exporter runs without "
		       "--heap walk");
	selection.has_owners = selection.has_heaps = true;
	add("collect[]", "owners");
	add("name[]", "memstate_group_trimmable_bytes");
}

static void every_family_is_found_and_has_a_collector(void **state)
{
	(void)state;
	for (int i = 0; i < METRIC_COUNT_; i++) {
		const struct metric_family *f = &metric_families[i];

		assert_int_equal(metric_find(f->name, strlen(f->name)), i);
		assert_true(f->collector < METRIC_COLLECTOR_COUNT_);
		assert_int_equal(f->collector == METRIC_COLLECTOR_OWNERS,
				 strcmp(f->option, "--owners") == 0);
		assert_int_equal(f->collector == METRIC_COLLECTOR_HEAPS,
				 strcmp(f->option, "--heap") == 0);
	}
	assert_int_equal(metric_find("", 0), METRIC_COUNT_);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(without_parameters_everything_is_selected),
		TEST(collectors_are_added_up),
		TEST(names_are_those_of_families_and_samples),
		TEST(a_family_is_selected_by_both_parameters),
		TEST(wrong_names_are_refused),
		TEST(families_without_their_option_are_refused),
		TEST(every_family_is_found_and_has_a_collector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
