/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits that programs set for themselves through command lines and environments. */
#include "config.h"

#include "classify/oom/runtime_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "classify/oom/verdict.h"
#include "../../support/made_runtime.h"
#include "../../support/unit.h"

#define GIB (1024 * MIB)
#define NONE BYTES_UNKNOWN

static void check(const char *command, uint64_t wanted_bytes)
{
	struct runtime_limit limit;

	runtime_limit_find(command, NULL, 0, &limit);
	if (runtime_limit_bytes(&limit, 200 * MIB) != wanted_bytes)
		fail_msg("%s: %llu, wanted %llu", command,
			 (unsigned long long)runtime_limit_bytes(&limit, 200 * MIB),
			 (unsigned long long)wanted_bytes);
}

static void check_with(const char *command, char *option, char *other,
		       uint64_t wanted_bytes)
{
	char *options[] = { option, other };
	struct runtime_limit limit;

	runtime_limit_find(command, options, other ? 2 : 1, &limit);
	assert_int_equal(runtime_limit_bytes(&limit, 200 * MIB), wanted_bytes);
}

static void java_sizes_have_upper_or_lower_case_suffixes_or_none(void **state)
{
	(void)state;
	check("/usr/bin/java -Xmx600m -jar app.jar", 600 * MIB);
	check("java -Xmx600M Main", 600 * MIB);
	check("java -Xmx2g Main", 2 * GIB);
	check("java -Xmx614400k Main", 600 * MIB);
	check("java -Xmx629145600 Main", 600 * MIB);
	check("java -XX:MaxHeapSize=1t Main", 1024 * GIB);
}

static void php_has_its_limit_in_a_setting(void **state)
{
	(void)state;
	check("php -d memory_limit=512M app.php", 512 * MIB);
	check("/usr/bin/php8.2 -dmemory_limit=1g app.php", GIB);
	check("php -d memory_limit=1G -d memory_limit=300m app.php", 300 * MIB);
	check("php -c /etc/php.ini -d memory_limit=64K app.php", 65536);
	check("php -d memory_limit=-1 app.php", NONE);
	check("php app.php memory_limit=512M", NONE);
	check("php -- memory_limit=512M", NONE);
	check("phpize -d memory_limit=512M", NONE);
	check("node8 -d memory_limit=512M", NONE);
}

static void java_uses_the_last_heap_size_before_any_percentage(void **state)
{
	(void)state;
	check("java -Xmx600m -Xmx100m Main", 100 * MIB);
	check("java -XX:MaxHeapSize=600m -Xmx100m Main", 100 * MIB);
	check("java -XX:MaxRAMPercentage=75.0 Main", 150 * MIB);
	check("java -Xmx600m -XX:MaxRAMPercentage=75 Main", 600 * MIB);
	check("java -XX:MaxRAMPercentage=75 -Xmx600m Main", 600 * MIB);
	check("java -XX:MaxRAMPercentage=50 -XX:MaxRAMPercentage=90 Main", 180 * MIB);
}

static void java_initial_sizes_are_not_limits(void **state)
{
	(void)state;
	check("java -XX:InitialRAMPercentage=90 Main", NONE);
	check("java -Xms600m Main", NONE);
	check("java -XX:MinRAMPercentage=90 Main", NONE);
	check("java -Xss600m Main", NONE);
}

static void options_of_the_program_are_not_runtime_options(void **state)
{
	(void)state;
	check("java -jar app.jar -Xmx600m", NONE);
	check("java Main -Xmx600m", NONE);
	check("java -cp lib.jar -Xmx600m Main -Xmx1g", 600 * MIB);
	check("node app.js --max-old-space-size=600", NONE);
	check("node -r x.js --max-old-space-size=600 app.js", 600 * MIB);
	check("sh -c java -Xmx600m", NONE);
	check("javac -Xmx600m", NONE);
}

static void java_variables_have_precedence(void **state)
{
	(void)state;
	check_with("java Main", (char *)"JAVA_TOOL_OPTIONS -Xmx600m", NULL, 600 * MIB);
	check_with("java -Xmx100m Main", (char *)"JAVA_TOOL_OPTIONS -Xmx600m", NULL,
		   100 * MIB);
	check_with("java -Xmx100m Main", (char *)"JDK_JAVA_OPTIONS -Xmx600m", NULL,
		   100 * MIB);
	check_with("java -Xmx100m Main", (char *)"_JAVA_OPTIONS -Xmx600m", NULL,
		   600 * MIB);
	/* the order in which they were recorded does not matter */
	check_with("java Main", (char *)"JDK_JAVA_OPTIONS -Xmx50m",
		   (char *)"JAVA_TOOL_OPTIONS -Xmx600m", 50 * MIB);
	check_with("java Main", (char *)"_JAVA_OPTIONS -XX:MaxRAMPercentage=80",
		   (char *)"JAVA_TOOL_OPTIONS -Xmx600m", 600 * MIB);
	check_with("/bin/sh", (char *)"JAVA_TOOL_OPTIONS -Xmx600m", NULL, NONE);
}

static void node_sizes_are_in_mib(void **state)
{
	(void)state;
	check("node --max-old-space-size=600 app.js", 600 * MIB);
	check("/opt/node --max_old_space_size=600 app.js", 600 * MIB);
	check("node --max-old-space-size 600 app.js", 600 * MIB);
	check("node --max-old-space-size=600m app.js", NONE);
	check("node --max-semi-space-size=600 app.js", NONE);
	check_with("node app.js", (char *)"NODE_OPTIONS --max-old-space-size=600", NULL,
		   600 * MIB);
	check_with("node --max-old-space-size=90 app.js",
		   (char *)"NODE_OPTIONS --max-old-space-size=600", NULL, 90 * MIB);
}

static void go_sizes_have_binary_suffixes(void **state)
{
	(void)state;
	check_with("server", (char *)"GOMEMLIMIT 600MiB", NULL, 600 * MIB);
	check_with("server", (char *)"GOMEMLIMIT 2GiB", NULL, 2 * GIB);
	check_with("server", (char *)"GOMEMLIMIT 629145600", NULL, 600 * MIB);
	check_with("server", (char *)"GOMEMLIMIT 629145600B", NULL, 600 * MIB);
	check_with("server", (char *)"GOMEMLIMIT off", NULL, NONE);
	check_with("server", (char *)"GOMEMLIMIT 600MB", NULL, NONE);
	check_with("server", (char *)"GOMEMLIMIT 600mib", NULL, NONE);
}

static void postgres_sizes_are_blocks_or_have_case_sensitive_units(void **state)
{
	(void)state;
	check("postgres -D /data -c shared_buffers=600MB", 600 * MIB);
	check("/usr/lib/postgresql/15/bin/postgres --shared_buffers=614400kB", 600 * MIB);
	check("postgres --shared-buffers=1GB", GIB);
	check("postgres -cshared_buffers=1GB", GIB);
	check("postgres -c shared_buffers=16384", 128 * MIB);
	check("postgres -B 16384", 128 * MIB);
	check("postgres -c shared_buffers=600mb", NONE);
	check("postgres -c work_mem=600MB", NONE);
	check("postgres: writer shared_buffers=600MB", NONE);
}

static void mysql_sizes_have_letters_and_options_have_dashes(void **state)
{
	(void)state;
	check("/usr/sbin/mysqld --innodb-buffer-pool-size=600M", 600 * MIB);
	check("mysqld --innodb_buffer_pool_size=1g", GIB);
	check("mariadbd --innodb_buffer_pool_size 1G", GIB);
	check("mysqld --innodb-buffer-pool-instances=8", NONE);
	check("mysqld --innodb-buffer-pool-size=600MB", NONE);
}

static void redis_distinguishes_k_and_kb(void **state)
{
	(void)state;
	check("redis-server --maxmemory 600mb", 600 * MIB);
	check("redis-server --maxmemory 600m", 600000000);
	check("redis-server --maxmemory 1GB", GIB);
	check("redis-server --maxmemory 5k", 5000);
	check("redis-server --maxmemory 5kb", 5120);
	check("redis-server --maxmemory 0", NONE);
	check("redis-server --maxmemory-policy 600mb", NONE);
	check("valkey-server --maxmemory 100mb --maxmemory 600mb", 600 * MIB);
}

static void garbage_and_overflow_are_ignored(void **state)
{
	char longest[400];

	(void)state;
	check(NULL, NONE);
	check("", NONE);
	check("java", NONE);
	check("java -Xmx", NONE);
	check("java -Xmxm", NONE);
	check("java -Xmx-1m", NONE);
	check("java -Xmx1.5g", NONE);
	check("java -Xmx600mm", NONE);
	check("java -Xmx600m -Xmxgarbage Main", 600 * MIB);
	check("java -Xmx18446744073709551615 Main", NONE);
	check("java -Xmx99999999999999999999m Main", NONE);
	check("java -Xmx18446744073709551615t Main", NONE);
	check("java -Xmx18446744073709t Main", NONE);
	check("java -XX:MaxRAMPercentage=101 Main", NONE);
	check("java -XX:MaxRAMPercentage=-5 Main", NONE);
	check("java -XX:MaxRAMPercentage=nan Main", NONE);
	check("redis-server --maxmemory", NONE);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "java -Xmx", 9);
	check(longest, NONE);
}

static char *texts[8];
static size_t text_count;

static int keep(void *context, const char *text)
{
	(void)context;
	assert_true(text_count < 8);
	texts[text_count++] = strdup(text);
	return 0;
}

static void only_memory_options_are_kept_from_the_environment(void **state)
{
	static const char text[] =
		"PATH=/bin\0DB_PASSWORD=secret\0"
		"JAVA_TOOL_OPTIONS=-Dkey.password=secret -Xmx600m  -XX:MaxRAMPercentage=80\0"
		"XJAVA_TOOL_OPTIONS=-Xmx1g\0NODE_OPTIONS=--max-old-space-size=5\0GOMEMLIMIT=1GiB\0"
		"_JAVA_OPTIONS=-Xmx700m"; /* truncated: it does not end with NUL */
	struct runtime_environment environment = { .text = text,
						   .length = sizeof(text) - 1,
						   .command = "java Main" };

	(void)state;
	assert_int_equal(runtime_variables_for_each(&environment, keep, NULL), 0);
	assert_int_equal(text_count, 2);
	assert_string_equal(texts[0], "JAVA_TOOL_OPTIONS -Xmx600m");
	assert_string_equal(texts[1], "JAVA_TOOL_OPTIONS -XX:MaxRAMPercentage=80");
	free(texts[0]);
	free(texts[1]);
	text_count = 0;
	environment.command = "/srv/server";
	environment.is_go = true;
	assert_int_equal(runtime_variables_for_each(&environment, keep, NULL), 0);
	assert_int_equal(text_count, 1);
	assert_string_equal(texts[0], "GOMEMLIMIT 1GiB");
	free(texts[0]);
	text_count = 0;
}

static void a_heap_larger_than_the_limit_is_reported_with_both_sizes(void **state)
{
	struct strbuf why = STRBUF_INIT, advice = STRBUF_INIT;
	struct oom_evidence e;

	(void)state;
	made_runtime(&e, OOM_END_KILLED, "java -Xmx600m Main", 150 * MIB);
	e.at.limit_bytes = 200 * MIB;
	assert_true(oom_verdict_holds(OOM_WHY_RUNTIME_LIMIT, &e, &why));
	assert_string_equal(why.text,
			    "the Java heap of java (7) may grow to 600.0M (-Xmx600m), "
			    "but the limit is 200.0M");
	oom_verdict_add_advice(OOM_WHY_RUNTIME_LIMIT, &e, &advice);
	assert_non_null(strstr(advice.text, "-XX:MaxRAMPercentage"));
	strbuf_clear(&advice);
	/*
	 * shared_buffers are shared memory, and each process has
	 * touched only a part of it
	 */
	made_runtime(&e, OOM_END_KILLED, "postgres -c shared_buffers=1GB", MIB);
	e.at.shmem_bytes = 60 * MIB;
	e.at.live_anon_bytes = 2 * MIB;
	assert_int_equal(oom_verdict_find(&e), OOM_WHY_SHMEM);
	oom_verdict_add_advice(OOM_WHY_SHMEM, &e, &advice);
	assert_non_null(strstr(advice.text, "shared_buffers"));
	strbuf_release(&why);
	strbuf_release(&advice);
}

static void sizes_of_mapped_pools_are_limits(void **state)
{
	struct usage_uses uses = {
		.items = { { .use = USE_JIT_CODE, .size_bytes = GIB },
			   { .use = USE_INNODB_POOL, .size_bytes = 256 * MIB } },
		.count = 1,
	};
	struct runtime_limit limit;

	(void)state;
	runtime_limit_of_uses(&uses, &limit);
	assert_null(limit.option);
	assert_int_equal(runtime_limit_bytes(&limit, 200 * MIB), NONE);
	uses.count = 2;
	runtime_limit_of_uses(&uses, &limit);
	assert_int_equal(runtime_limit_bytes(&limit, 200 * MIB), 256 * MIB);
	assert_string_equal(runtime_option_title(limit.option),
			    "innodb_buffer_pool_size");
	assert_string_equal(limit.text, "the size of the InnoDB buffer pool");
	uses.items[1].use = USE_POSTGRES_SHARED;
	runtime_limit_of_uses(&uses, &limit);
	assert_string_equal(runtime_option_title(limit.option), "shared_buffers");
	assert_true(runtime_option_is_shared(limit.option));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(java_sizes_have_upper_or_lower_case_suffixes_or_none),
		cmocka_unit_test(php_has_its_limit_in_a_setting),
		cmocka_unit_test(java_uses_the_last_heap_size_before_any_percentage),
		cmocka_unit_test(java_initial_sizes_are_not_limits),
		cmocka_unit_test(options_of_the_program_are_not_runtime_options),
		cmocka_unit_test(java_variables_have_precedence),
		cmocka_unit_test(node_sizes_are_in_mib),
		cmocka_unit_test(go_sizes_have_binary_suffixes),
		cmocka_unit_test(postgres_sizes_are_blocks_or_have_case_sensitive_units),
		cmocka_unit_test(mysql_sizes_have_letters_and_options_have_dashes),
		cmocka_unit_test(redis_distinguishes_k_and_kb),
		cmocka_unit_test(garbage_and_overflow_are_ignored),
		cmocka_unit_test(
			a_heap_larger_than_the_limit_is_reported_with_both_sizes),
		cmocka_unit_test(only_memory_options_are_kept_from_the_environment),
		cmocka_unit_test(sizes_of_mapped_pools_are_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
