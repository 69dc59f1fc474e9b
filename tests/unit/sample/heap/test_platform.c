/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "classify/process/heap_problem.h"
#include "probe/attach.h"
#include "probe/borrow/gates.h"
#include "sample/heap/reader.h"
#include "../../support/unit.h"
#include "walk/walk.h"

static const struct platform known = { "x86-64", 4096 },
			     other_machine = { "AArch64", 4096 },
			     other_pages = { "x86-64", 16384 };

static void only_x86_64_with_4k_pages_is_supported(void **state)
{
	static const struct {
		struct platform platform;
		const char *word; /* expected in the refusal; NULL: not refused */
	} rows[] = {
		{ { "x86-64", 4096 }, NULL },
		{ { "x86-64", 16384 }, "4096" },
		{ { "x86-64", 65536 }, "4096" },
		{ { "AArch64", 4096 }, "x86-64" },
		{ { "AArch64", 16384 }, "x86-64" },
		{ { "another machine", 4096 }, "x86-64" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int part = 0; part < PLATFORM_PART_COUNT_; part++) {
			const char *refusal = platform_unsupported_reason_on(
				&rows[i].platform, (enum platform_part)part);

			assert_int_equal(!refusal, !rows[i].word);
			if (refusal)
				assert_non_null(strstr(refusal, rows[i].word));
		}
}

static int walk(const struct platform *platform, uint64_t end_addr)
{
	struct procfs fs = PROCFS_INIT;
	struct mapping m = { .start_addr = end_addr - 4096,
			     .end_addr = end_addr,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .name = "" };
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct heap_reader reader;
	struct heap heap = { 0 };
	struct usage usage;
	int r;

	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	mapping_list_add(&mappings, &m);
	heap_reader_init(&reader, &fs, NULL, 0);
	usage_init(&usage);
	platform_override(platform);
	r = heap_reader_walk(&reader, &usage, &mappings, &heap);
	platform_override(NULL);
	usage_release(&usage);
	heap_reader_release(&reader);
	mapping_list_release(&mappings);
	procfs_release(&fs);
	return r;
}

static void heaps_are_not_read_on_other_platforms(void **state)
{
	(void)state;
	assert_int_equal(walk(&other_machine, 1 << 20), -ENOEXEC);
	assert_int_equal(walk(&other_pages, 1 << 20), -ENOEXEC);
	assert_non_null(strstr(heap_error_text(-ENOEXEC), "4096"));
	assert_non_null(strstr(heap_error_text(-ENOEXEC), "x86-64"));
}

static void heaps_above_47_bits_are_not_read(void **state)
{
	const uint64_t end = UINT64_C(1) << WALK_ADDR_BITS;

	(void)state;
	assert_int_equal(walk(&known, end + 4096), -EOVERFLOW);
	assert_int_not_equal(walk(&known, end), -EOVERFLOW);
	assert_non_null(strstr(heap_error_text(-EOVERFLOW), "47"));
}

static void running_processes_are_not_counted_on_other_platforms(void **state)
{
	struct procfs fs = PROCFS_INIT;
	struct count_request request = { .fs = &fs, .pid = getppid() };
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct count_attach *attach;

	(void)state;
	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	platform_override(&other_machine);
	assert_int_equal(count_attach_open(&request, &attach, &why), -EOPNOTSUPP);
	for (int method = 0; method < COUNT_METHOD_COUNT_; method++)
		assert_int_equal(count_method_check((enum count_method)method, &why),
				 -EOPNOTSUPP);
	platform_override(NULL);
	assert_non_null(strstr(strbuf_text(&why), "x86-64"));
	procfs_release(&fs);
}

static void helpers_are_not_injected_on_other_platforms(void **state)
{
	struct procfs fs = PROCFS_INIT;
	struct probe_request request = { .fs = &fs, .pid = getppid() };
	const char *reason = "";

	(void)state;
	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	platform_override(&other_pages);
	assert_int_equal(gates_check(&request, -1, &reason), -EOPNOTSUPP);
	platform_override(NULL);
	assert_non_null(strstr(reason, "4096"));
	procfs_release(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_x86_64_with_4k_pages_is_supported),
		cmocka_unit_test(heaps_are_not_read_on_other_platforms),
		cmocka_unit_test(heaps_above_47_bits_are_not_read),
		cmocka_unit_test(running_processes_are_not_counted_on_other_platforms),
		cmocka_unit_test(helpers_are_not_injected_on_other_platforms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
