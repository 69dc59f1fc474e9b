/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/variants.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"

static struct variants variants;

/* Parse a list of variants. Messages on stderr are discarded. */
static int parse(const char *list)
{
	int stderr_before = dup(STDERR_FILENO),
	    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int r;

	dup2(null, STDERR_FILENO);
	r = variants_parse(list, &variants);
	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	close(null);
	return r;
}

static const char *find(char **environment, const char *name)
{
	const char *found = NULL;
	size_t length = strlen(name);

	for (char **e = environment; *e; e++)
		if (strncmp(*e, name, length) == 0 && (*e)[length] == '=') {
			assert_null(found); /* each variable must be set only once */
			found = *e + length + 1;
		}
	return found;
}

static void names_and_paths_may_be_mixed(void **state)
{
	(void)state;
	assert_int_equal(
		parse("glibc,tcmalloc_minimal,/opt/lib/libjemalloc.so.2,./libfoo.so"), 0);
	assert_int_equal(variants.count, 4);
	assert_string_equal(variants.items[0].name, "glibc");
	assert_int_equal(variants.items[0].allocator, ALLOCATOR_GLIBC);
	assert_int_equal(variants.items[1].allocator, ALLOCATOR_TCMALLOC);
	assert_string_equal(variants.items[2].library, "/opt/lib/libjemalloc.so.2");
	assert_int_equal(variants.items[2].allocator, ALLOCATOR_JEMALLOC);
	assert_string_equal(variants.items[3].library, "./libfoo.so");
	assert_int_equal(variants.items[3].allocator, ALLOCATOR_UNKNOWN);
	variants_release(&variants);
}

static const struct {
	const char *variant;
	const char *settings[3];
} mapped[] = {
	{ "glibc:arena_max=2", { "GLIBC_TUNABLES=glibc.malloc.arena_max=2" } },
	{ "glibc:arena_max=2:trim_threshold=64K",
	  { "GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.trim_threshold=65536" } },
	{ "jemalloc:dirty_decay_ms=0", { "MALLOC_CONF=dirty_decay_ms:0" } },
	{ "jemalloc:dirty_decay_ms=-1:thp=never",
	  { "MALLOC_CONF=dirty_decay_ms:-1,thp:never" } },
	{ "/x/libjemalloc.so.2:narenas=1", { "MALLOC_CONF=narenas:1" } },
	{ "tcmalloc:release_rate=10", { "TCMALLOC_RELEASE_RATE=10" } },
	{ "mimalloc:purge_delay=0:arena_eager_commit=0",
	  { "MIMALLOC_PURGE_DELAY=0", "MIMALLOC_ARENA_EAGER_COMMIT=0" } },
};

static void settings_are_passed_in_each_allocators_variable(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mapped); i++) {
		size_t count = 0;

		assert_row(parse(mapped[i].variant) == 0, mapped[i].variant);
		assert_row(strcmp(variants.items[0].name, mapped[i].variant) == 0,
			   mapped[i].variant);
		for (; mapped[i].settings[count]; count++)
			assert_string_equal(variants.items[0].settings[count],
					    mapped[i].settings[count]);
		assert_null(variants.items[0].settings[count]);
		variants_release(&variants);
	}
}

static const char *const refused[] = {
	"",
	"glibc,",
	",glibc",
	"nosuch",
	"glibc,nosuch",
	"glibc,glibc",
	"glibc:",
	"glibc:arena_max",
	"glibc:arena_max=",
	"glibc:=2",
	"glibc:arena_maxi=2",
	"glibc:arena_max=two",
	"glibc:arena_max=-1",
	"jemalloc:dirty_decay_ms=0:nosuch=1",
	"tcmalloc:nosuch=1",
	"mimalloc:nosuch=1",
	"/x/libfoo.so:a=1",
	"jemalloc:dirty_decay_ms=0,muzzy_decay_ms=0", /* ',' starts another allocator */
};

static void unknown_allocators_and_settings_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		variants = (struct variants){ .count = 77 };
		assert_row(parse(refused[i]) == -EINVAL, refused[i]);
		assert_row(variants.count == 77, refused[i]);
	}
}

static void existing_environment_settings_are_kept(void **state)
{
	char *const base[] = {
		(char[]){ "PATH=/bin" },
		(char[]){ "LD_PRELOAD=/x/liba.so:/x/libb.so" },
		(char[]){ "GLIBC_TUNABLES=glibc.malloc.arena_max=8" },
		(char[]){ "MALLOC_CONF=thp:always" },
		(char[]){ "TCMALLOC_RELEASE_RATE=1" },
		NULL,
	};
	char **environment;

	(void)state;
	assert_int_equal(
		parse("/x/libjemalloc.so:thp=never,glibc:arena_max=1,tcmalloc:release_rate=2"),
		0);
	environment = variant_environment(&variants.items[0], base);
	assert_string_equal(find(environment, "PATH"), "/bin");
	assert_string_equal(find(environment, "LD_PRELOAD"),
			    "/x/libjemalloc.so:/x/liba.so:/x/libb.so");
	assert_string_equal(find(environment, "MALLOC_CONF"), "thp:always,thp:never");
	assert_string_equal(find(environment, "GLIBC_TUNABLES"),
			    "glibc.malloc.arena_max=8");
	environment_free(environment);

	environment = variant_environment(&variants.items[1], base);
	assert_string_equal(find(environment, "GLIBC_TUNABLES"),
			    "glibc.malloc.arena_max=8:glibc.malloc.arena_max=1");
	environment_free(environment);

	environment = variant_environment(&variants.items[2], base);
	assert_string_equal(find(environment, "TCMALLOC_RELEASE_RATE"), "2");
	environment_free(environment);
	variants_release(&variants);
}

static void an_empty_environment_gets_the_required_variables(void **state)
{
	char *const base[] = { (char[]){ "LD_PRELOAD=" }, NULL };
	char **environment;

	(void)state;
	assert_int_equal(parse("/x/libmimalloc.so:verbose=1:show_stats=1"), 0);
	environment = variant_environment(&variants.items[0], base);
	assert_string_equal(find(environment, "LD_PRELOAD"), "/x/libmimalloc.so");
	assert_string_equal(find(environment, "MIMALLOC_VERBOSE"), "1");
	assert_string_equal(find(environment, "MIMALLOC_SHOW_STATS"), "1");
	environment_free(environment);
	variants_release(&variants);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_paths_may_be_mixed),
		cmocka_unit_test(settings_are_passed_in_each_allocators_variable),
		cmocka_unit_test(unknown_allocators_and_settings_are_refused),
		cmocka_unit_test(existing_environment_settings_are_kept),
		cmocka_unit_test(an_empty_environment_gets_the_required_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
