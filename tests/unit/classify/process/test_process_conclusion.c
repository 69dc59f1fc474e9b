/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "classify/process/process_conclusion.h"

static const struct next_place live = { .is_live = true, .options = "" };
static const struct next_place capture = { .is_capture = true,
					   .options = " --procfs 'a b'" };
static const struct next_place recording = { .options = "" };

/* Make process 4242 of 100 MiB: `owner` has `mib`, and mapped files have the rest. */
static void make_usage(struct usage *u, enum owner owner, uint64_t mib)
{
	usage_init(u);
	usage_set_no_memory(u);
	u->process.pid = 4242;
	u->process.state = 'S';
	u->process.thread_count = 1;
	u->mapping_count = 7;
	u->total.bytes[SMAPS_RSS] = 100 * MIB;
	u->matrix.cell[OWNER_FILE][STATE_PRIVATE_CLEAN] = (100 - mib) * MIB;
	u->matrix.owner_rss_bytes[OWNER_FILE] = (100 - mib) * MIB;
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++) {
		u->matrix.owner_rss_bytes[o] = 0;
		for (unsigned int s = 0; s < STATE_COUNT_; s++)
			u->matrix.cell[o][s] = 0;
	}
	u->matrix.cell[owner][STATE_PRIVATE_DIRTY] = mib * MIB;
	u->matrix.owner_rss_bytes[owner] = mib * MIB;
	u->allocator = ALLOCATOR_GLIBC;
	u->heap_quality = QUALITY_EXACT;
}

static void rss_and_its_largest_part_open_the_report(void **state)
{
	static const struct {
		enum owner owner;
		uint64_t mib;
		const char *text;
	} rows[] = {
		{ OWNER_LIVE, 82,
		  "Rss 100.0M. Most of it is allocated blocks: 82.0M (82%)." },
		{ OWNER_POOL_PAGES, 50,
		  "Rss 100.0M. Most of it is free pages that the allocator keeps: 50.0M "
		  "(50%)." },
		{ OWNER_STACK, 70, "Rss 100.0M. Most of it is stacks: 70.0M (70%)." },
		{ OWNER_SHMEM, 10,
		  "Rss 100.0M. Most of it is mapped files: 90.0M (90%)." },
	};
	static const struct mapping_list none = MAPPING_LIST_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct usage u;

		make_usage(&u, rows[i].owner, rows[i].mib);
		process_conclude(&c, &u, &none);
		assert_string_equal(c.text.text, rows[i].text);
		usage_release(&u);
	}
}

static void two_parts_are_named_if_neither_has_half(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	make_usage(&u, OWNER_LIVE, 60);
	u.matrix.cell[OWNER_LIVE][STATE_PRIVATE_DIRTY] = 45 * MIB;
	u.matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 15 * MIB;
	u.matrix.owner_rss_bytes[OWNER_LIVE] = 45 * MIB;
	u.matrix.owner_rss_bytes[OWNER_ANON] = 15 * MIB;
	process_conclude(&c, &u, NULL);
	assert_string_equal(
		c.text.text,
		"Rss 100.0M. No owner dominates: allocated blocks 45.0M (45%), "
		"mapped files 40.0M (40%).");
	usage_release(&u);
}

static void an_unknown_rss_has_no_largest_part(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	make_usage(&u, OWNER_LIVE, 90);
	u.total.bytes[SMAPS_RSS] = BYTES_UNKNOWN;
	/* as in a damaged capture, whose sum is too large */
	u.matrix.cell[OWNER_LIVE][STATE_PRIVATE_DIRTY] = UINT64_MAX / 4 * 3;
	u.matrix.owner_rss_bytes[OWNER_LIVE] = UINT64_MAX / 4 * 3;
	process_conclude(&c, &u, NULL);
	assert_string_equal(c.text.text, "Rss cannot be determined.");
	usage_release(&u);
}

static void an_error_is_the_only_sentence(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	usage_init(&u);
	u.process.pid = 4242;
	u.process.state = 'S';
	u.error = -EACCES;
	process_conclude(&c, &u, NULL);
	assert_string_equal(c.text.text, "Its memory cannot be read without more rights: "
					 "only its owner and root may read it.");
	process_conclude_next(&c, &u, &live);
	assert_string_equal(c.next.text, "memstate doctor -p 4242");
	usage_release(&u);
}

static void every_owner_has_a_next_command(void **state)
{
	static const char *const commands[OWNER_COUNT_] = {
		[OWNER_LIVE] = "memstate leaks -p 4242",
		[OWNER_POOL_PAGES] = "memstate heap -p 4242",
		[OWNER_POOL_FRAGMENTS] = "memstate heap -p 4242",
		[OWNER_HEAP_META] = "memstate heap -p 4242",
		[OWNER_STACK] = "memstate map -p 4242 -s rss",
		[OWNER_ANON] = "memstate map -p 4242 -s rss",
		[OWNER_FILE] = "memstate map -p 4242 -s rss",
		[OWNER_SHMEM] = "memstate map -p 4242 -s rss",
	};

	(void)state;
	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct usage u;

		make_usage(&u, (enum owner)o, 90);
		if (o == OWNER_FILE)
			u.matrix.cell[o][STATE_PRIVATE_CLEAN] = 10 * MIB;
		process_conclude_next(&c, &u, &live);
		assert_string_equal(c.next.text, commands[o]);
		process_conclude_next(&c, &u, &capture);
		assert_string_equal(c.next.text,
				    "memstate map --procfs 'a b' -p 4242 -s rss");
		conclusion_release(&c);
		process_conclude_next(&c, &u, &recording);
		assert_int_equal(c.next.length, 0);
		/* figures of a helper: neither leaks nor heap can read this heap */
		u.heap_is_reported = true;
		process_conclude_next(&c, &u, &live);
		assert_string_equal(c.next.text, "memstate map -p 4242 -s rss");
		usage_release(&u);
	}
}

static void an_unread_heap_leads_to_the_command_that_can_read_it(void **state)
{
	static const struct {
		int error;
		enum allocator allocator;
		const char *next;
		const char *problem;
		const char *pre_copy_problem;
	} rows[] = {
		/* a heap that could not be understood: heap would fail as well */
		{ 0, ALLOCATOR_GLIBC, "memstate map -p 4242 -s rss", "two mallocs",
		  NULL },
		{ 0, ALLOCATOR_GLIBC, "memstate heap -p 4242", NULL, NULL },
		{ 0, ALLOCATOR_JEMALLOC, "memstate heap -p 4242", NULL, NULL },
		{ 0, ALLOCATOR_MUSL, "memstate heap -p 4242", NULL, NULL },
		{ 0, ALLOCATOR_MIMALLOC, "memstate heap -p 4242", NULL, NULL },
		{ 0, ALLOCATOR_PARTITION, "memstate heap -p 4242", NULL, NULL },
		{ 0, ALLOCATOR_GO, "memstate heap -p 4242", NULL, NULL },
		{ -EPERM, ALLOCATOR_GLIBC, "memstate doctor -p 4242", NULL, NULL },
		{ -EFBIG, ALLOCATOR_GLIBC, "memstate -p 4242 --heap walk", NULL, NULL },
		{ -EFBIG, ALLOCATOR_GLIBC, "memstate -p 4242 --max-pause 1051ms", NULL,
		  "the kernel does not track writes" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct usage u;

		make_usage(&u, OWNER_ANON, 90);
		u.heap_quality = QUALITY_UNKNOWN;
		u.heap_error = rows[i].error;
		u.heap_problem = rows[i].problem;
		u.heap_pre_copy_problem = rows[i].pre_copy_problem;
		u.heap_expected_ns = 700 * NS_PER_MS;
		u.allocator = rows[i].allocator;
		process_conclude_next(&c, &u, &live);
		assert_string_equal(c.next.text, rows[i].next);
		usage_release(&u);
	}
}

static void a_process_without_memory_has_no_next_command(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	usage_init(&u);
	usage_set_no_memory(&u);
	u.process.is_kernel_thread = true;
	process_conclude(&c, &u, NULL);
	process_conclude_next(&c, &u, &live);
	assert_string_equal(c.text.text,
			    "A kernel thread, which has no memory of its own.");
	assert_int_equal(c.next.length, 0);
	usage_release(&u);
}

static void a_runtime_is_recognized_by_its_code(void **state)
{
	static const struct {
		const char *file;
		uint32_t flags;
		const char *words; /* in the sentence; NULL: no runtime */
	} rows[] = {
		{ "/opt/jdk/lib/server/libjvm.so", MAPPING_EXEC,
		  "'jcmd 4242 GC.heap_info'" },
		{ "/usr/lib/dotnet/libcoreclr.so", MAPPING_EXEC,
		  "'dotnet-gcdump collect -p 4242'" },
		{ "/usr/bin/node", MAPPING_EXEC, "process.memoryUsage()" },
		{ "/usr/bin/node (deleted)", MAPPING_EXEC, "process.memoryUsage()" },
		{ "/usr/lib/libnode.so.108", MAPPING_EXEC, "process.memoryUsage()" },
		{ "/usr/lib/libruby-3.1.so.3.1.2", MAPPING_EXEC, "memsize_of_all" },
		{ "/usr/sbin/php-fpm8.2", MAPPING_EXEC, "memory_get_usage(true)" },
		{ "/usr/bin/python3.11", MAPPING_EXEC, "-X tracemalloc" },
		{ "/usr/lib/libpython3.11.so.1.0", MAPPING_EXEC, "-X tracemalloc" },
		{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", MAPPING_EXEC,
		  "erlang:memory() in its shell" },
		{ "/opt/bin/beam.debug.smp (deleted)", MAPPING_EXEC,
		  "recon_alloc:memory(usage)" },
		{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", MAPPING_READ, NULL },
		{ "/usr/bin/beam.smpx", MAPPING_EXEC, NULL },
		{ "/usr/bin/beam.", MAPPING_EXEC, NULL },
		/* mapped, but not as code */
		{ "/opt/jdk/lib/server/libjvm.so", MAPPING_READ, NULL },
		{ "/usr/bin/node_exporter", MAPPING_EXEC, NULL },
		{ "/usr/bin/pythonic", MAPPING_EXEC, NULL },
		{ "/srv/node/bin/server", MAPPING_EXEC, NULL },
		{ "node", MAPPING_EXEC, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct mapping mapping = { .name = rows[i].file,
					   .name_length = (uint32_t)strlen(rows[i].file),
					   .flags = rows[i].flags,
					   .inode = 7 };
		struct mapping_list list = { &mapping, 1, 1 };
		struct usage u;

		make_usage(&u, OWNER_ANON, 90);
		process_conclude(&c, &u, &list);
		if (rows[i].words)
			assert_row(strstr(c.text.text, rows[i].words), rows[i].file);
		else
			assert_row(!strstr(c.text.text, "contains"), rows[i].file);
		usage_release(&u);
	}
}

static void a_runtime_is_named_only_for_anonymous_memory(void **state)
{
	struct mapping mapping = { .name = "/usr/lib/libjvm.so",
				   .flags = MAPPING_EXEC,
				   .inode = 7 };
	struct mapping_list list = { &mapping, 1, 1 };
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	make_usage(&u, OWNER_LIVE, 90);
	process_conclude(&c, &u, &list);
	assert_null(strstr(c.text.text, "Java"));
	usage_release(&u);
	make_usage(&u, OWNER_ANON, 90);
	u.allocator = ALLOCATOR_GO;
	mapping.inode = 0;
	process_conclude(&c, &u, &list);
	assert_non_null(strstr(c.text.text, "GODEBUG=gctrace=1"));
	usage_release(&u);
}

static void the_list_of_mappings_opens_with_its_sum(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct usage u;

	(void)state;
	make_usage(&u, OWNER_ANON, 81);
	process_conclude_map(&c, &u, &live);
	assert_string_equal(c.text.text, "Rss 100.0M in 7 mappings. The largest part is "
					 "anon: 81.0M (81%).");
	assert_string_equal(c.next.text, "memstate -p 4242");
	usage_release(&u);
}

/* Make process 4242 with Pss 10M, 4243 with 30M, and 4244 with 20M; Rss 3M, 2M, 1M. */
static void make_three(struct usage *usages, const struct usage **order)
{
	static const char *const names[] = { "small", "my\nserver", "medium" };
	static const uint64_t pss_mib[] = { 10, 30, 20 };

	for (size_t i = 0; i < 3; i++) {
		usage_init(&usages[i]);
		usages[i].process.pid = 4242 + (int)i;
		strcpy(usages[i].process.comm, names[i]);
		usages[i].total.bytes[SMAPS_PSS] = pss_mib[i] * MIB;
		usages[i].total.bytes[SMAPS_RSS] = (3 - i) * MIB;
		order[i] = &usages[i];
	}
}

static void the_largest_of_several_processes_is_named(void **state)
{
	static const struct {
		unsigned int unknown_pss, unknown_rss; /* a bit for each process */
		const char *text;
		int next_pid;
	} rows[] = {
		{ 0, 0,
		  "The largest of 3 processes is my\\x0aserver (4243): Pss 30.0M, 50% of the "
		  "sum.",
		  4243 },
		{ 1 << 1, 0,
		  "The largest of 3 processes, as far as known, is medium (4244): Pss 20.0M.",
		  4244 },
		{ 7, 0, "The largest of 3 processes is small (4242): Rss 3.0M.", 4242 },
		{ 7, 1,
		  "The largest of 3 processes, as far as known, is my\\x0aserver (4243): Rss "
		  "2.0M.",
		  4243 },
		{ 7, 7, "", 0 },
	};

	(void)state;
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT,
						       past = CONCLUSION_INIT;
		struct usage usages[3];
		const struct usage *order[3];
		char next[64] = "";

		make_three(usages, order);
		for (unsigned int i = 0; i < 3; i++) {
			if (rows[r].unknown_pss >> i & 1)
				usages[i].total.bytes[SMAPS_PSS] = BYTES_UNKNOWN;
			if (rows[r].unknown_rss >> i & 1)
				usages[i].total.bytes[SMAPS_RSS] = BYTES_UNKNOWN;
		}
		if (rows[r].next_pid > 0)
			snprintf(next, sizeof(next), "memstate --procfs 'a b' -p %d",
				 rows[r].next_pid);
		processes_conclude(&c, order, 3, &capture);
		assert_string_equal(strbuf_text(&c.text), rows[r].text);
		assert_string_equal(strbuf_text(&c.next), next);
		processes_conclude(&past, order, 3, &recording);
		assert_string_equal(strbuf_text(&past.text), rows[r].text);
		assert_int_equal(past.next.length, 0);
		for (size_t i = 0; i < 3; i++)
			usage_release(&usages[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rss_and_its_largest_part_open_the_report),
		cmocka_unit_test(two_parts_are_named_if_neither_has_half),
		cmocka_unit_test(an_unknown_rss_has_no_largest_part),
		cmocka_unit_test(an_error_is_the_only_sentence),
		cmocka_unit_test(every_owner_has_a_next_command),
		cmocka_unit_test(an_unread_heap_leads_to_the_command_that_can_read_it),
		cmocka_unit_test(the_largest_of_several_processes_is_named),
		cmocka_unit_test(a_process_without_memory_has_no_next_command),
		cmocka_unit_test(a_runtime_is_recognized_by_its_code),
		cmocka_unit_test(a_runtime_is_named_only_for_anonymous_memory),
		cmocka_unit_test(the_list_of_mappings_opens_with_its_sum),
	};

	return cmocka_run_group_tests_name("process_conclusion", tests, NULL, NULL);
}
