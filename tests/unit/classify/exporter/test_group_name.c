/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/group_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "classify/cgroup/container_names.h"

#include "../../support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "/kubepods/burstable/pod4a163a05-439d-484b-8e53-2968bc15824f"

struct row {
	enum grouping grouping;
	const char *path;
	const char *group;  /* wanted name */
	const char *cgroup; /* wanted path of the cgroup that has the name */
};

static const struct row rows[] = {
	{ GROUPING_AUTO, "/docker/" ID, "0123456789ab", "/docker/" ID },
	{ GROUPING_AUTO, "/docker/" ID "/init.scope", "0123456789ab", "/docker/" ID },
	{ GROUPING_AUTO, "/docker/" ID "/worker", "0123456789ab", "/docker/" ID },
	{ GROUPING_AUTO, POD "/" ID, "4a163a05-439d-484b-8e53-2968bc15824f/0123456789ab",
	  POD "/" ID },
	{ GROUPING_AUTO, "/system.slice/nginx.service", "nginx.service",
	  "/system.slice/nginx.service" },
	{ GROUPING_AUTO, "/system.slice/nginx.service/sub/sub2", "nginx.service",
	  "/system.slice/nginx.service" },
	{ GROUPING_AUTO, "/user.slice/user-1000.slice/session-17.scope",
	  "session-*.scope", "/user.slice/user-1000.slice/session-17.scope" },
	{ GROUPING_AUTO, "/user.slice/user@1000.service", "user@*.service",
	  "/user.slice/user@1000.service" },
	{ GROUPING_AUTO, "/system.slice/postgresql@15-main.service",
	  "postgresql@*-main.service", "/system.slice/postgresql@15-main.service" },
	{ GROUPING_AUTO, "/system.slice/php8.2-fpm.service", "php8.2-fpm.service",
	  "/system.slice/php8.2-fpm.service" },
	{ GROUPING_AUTO, "/batch/job", "/batch/job", "/batch/job" },
	{ GROUPING_AUTO, "", "/", "" },
	{ GROUPING_CONTAINER, "/system.slice/nginx.service", "(rest)",
	  "/system.slice/nginx.service" },
	{ GROUPING_UNIT, "/docker/" ID, "(rest)", "/docker/" ID },
	{ GROUPING_CGROUP, "/system.slice/nginx.service/sub",
	  "/system.slice/nginx.service/sub", "/system.slice/nginx.service/sub" },
};

static void cgroups_have_the_names_of_containers_and_units(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		char *names[CGROUP_NAME_COUNT_] = { NULL };
		struct group_name name = { .group = NULL };

		container_names_find(row->path, names);
		group_name_set_cgroup(&name, row->grouping, row->path, names);
		if (strcmp(name.group, row->group) != 0)
			fail_msg("%s: %s, not %s", row->path, name.group, row->group);
		if (group_name_find_cgroup(row->grouping, row->path) !=
		    strlen(row->cgroup))
			fail_msg("%s: not the cgroup %s", row->path, row->cgroup);
		group_name_release(&name);
		cgroup_names_clear(names);
	}
}

static void a_container_of_kubernetes_has_labels(void **state)
{
	static char namespace_name[] = "shop", pod[] = "cart-7d9f", container[] = "app";
	static char uid[] = "4a163a05-439d-484b-8e53-2968bc15824f";
	char *names[CGROUP_NAME_COUNT_] = {
		[CGROUP_NAME_NAMESPACE] = namespace_name,
		[CGROUP_NAME_POD] = pod,
		[CGROUP_NAME_CONTAINER] = container,
		[CGROUP_NAME_POD_UID] = uid,
	};
	struct group_name name = { .group = NULL };

	(void)state;
	group_name_set_cgroup(&name, GROUPING_AUTO, POD "/" ID, names);
	assert_string_equal(name.group, "shop/cart-7d9f/app");
	assert_string_equal(name.namespace_name, "shop");
	assert_string_equal(name.pod, "cart-7d9f");
	assert_string_equal(name.container, "app");
	group_name_release(&name);
}

static void any_bytes_become_a_bounded_printable_name(void **state)
{
	struct group_name name = { .group = NULL };
	char word[4097];

	(void)state;
	for (int seed = 1; seed < 256; seed++) {
		const char *at;

		for (size_t i = 0; i < sizeof(word) - 1; i++)
			word[i] = (char)(1 + (i * 31 + (size_t)seed) % 255);
		word[(size_t)seed * 16] = '\0';
		group_name_set_word(&name, word);
		assert_true(strlen(name.group) <= GROUP_NAME_LENGTH_MAX);
		for (at = name.group; *at;) {
			uint32_t code_point;
			size_t length = text_utf8_next(at, strlen(at), &code_point);

			assert_true(length > 0);
			assert_false(text_is_control(code_point));
			at += length;
		}
	}
	group_name_release(&name);
}

static void long_names_with_the_same_beginning_stay_different(void **state)
{
	struct group_name a = { .group = NULL }, b = { .group = NULL };
	char word[4097];

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	group_name_set_word(&a, word);
	word[sizeof(word) - 2] = 'y';
	group_name_set_word(&b, word);
	assert_string_not_equal(a.group, b.group);
	assert_memory_equal(a.group, b.group, 100);
	group_name_release(&a);
	group_name_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_have_the_names_of_containers_and_units),
		cmocka_unit_test(a_container_of_kubernetes_has_labels),
		cmocka_unit_test(any_bytes_become_a_bounded_printable_name),
		cmocka_unit_test(long_names_with_the_same_beginning_stay_different),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
