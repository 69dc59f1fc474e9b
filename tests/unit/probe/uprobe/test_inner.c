/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/inner.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "base/interrupt.h"
#include "base/xalloc.h"

/*
 * A file of functions at a distance of FUNCTION_BYTES, whose code is zeros. The first
 * function is malloc; the second one calls it.
 */
#define FUNCTION_BYTES UINT64_C(65536)
#define FUNCTION_COUNT 4096
#define CALLER FUNCTION_BYTES

static struct elf_exports exports;
static struct count_points points;
static uint64_t steps_left;
static struct count_code code;

static int begin(void **state)
{
	uint8_t call[5] = { 0xe8 };
	int32_t distance = -(int32_t)(CALLER + sizeof(call));

	(void)state;
	exports = (struct elf_exports)ELF_EXPORTS_INIT;
	exports.items = xcalloc(FUNCTION_COUNT, sizeof(*exports.items));
	exports.count = FUNCTION_COUNT;
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		exports.items[i] = (struct elf_export){ .vaddr = i * FUNCTION_BYTES,
							.bytes = FUNCTION_BYTES,
							.name = i == 0 ? "malloc" : "f",
							.is_function = true };
	exports.part_count = 1;
	exports.parts[0].file_bytes = FUNCTION_COUNT * FUNCTION_BYTES;
	exports.parts[0].is_code = true;
	memset(&points, 0, sizeof(points));
	points.count = 1;
	points.items[0].target = COUNT_POINT_NONE;
	code = (struct count_code){ .fd = memfd_create("code", MFD_CLOEXEC),
				    .exports = &exports,
				    .end_vaddr = FUNCTION_COUNT * FUNCTION_BYTES,
				    .steps_left = &steps_left };
	memcpy(call + 1, &distance, sizeof(distance));
	if (code.fd < 0 || ftruncate(code.fd, FUNCTION_COUNT * FUNCTION_BYTES) < 0 ||
	    pwrite(code.fd, call, sizeof(call), (off_t)CALLER) != (ssize_t)sizeof(call))
		return -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(code.fd);
	free(exports.items);
	return 0;
}

static void a_call_of_its_own_function_is_found(void **state)
{
	(void)state;
	code.end_vaddr = 3 * FUNCTION_BYTES;
	steps_left = INNER_STEPS_MAX;
	assert_int_equal(count_inner_add(&points, &code, NULL, 0), 0);
	assert_int_equal(points.count, 2);
	assert_true(points.items[1].is_inner);
	assert_int_equal(points.items[1].offset_bytes, CALLER);
	assert_int_equal(points.items[1].target, 0);
	assert_true(INNER_STEPS_MAX - steps_left >= 3 * FUNCTION_BYTES);
}

static void a_search_ends_when_its_steps_are_used_up(void **state)
{
	(void)state;
	steps_left = 10 * FUNCTION_BYTES;
	assert_int_equal(count_inner_add(&points, &code, NULL, 0), -E2BIG);
	assert_true(steps_left < FUNCTION_BYTES);
	/* all files share the steps */
	assert_int_equal(count_inner_add(&points, &code, NULL, 0), -E2BIG);
}

static void too_many_names_of_a_function_end_a_search(void **state)
{
	(void)state;
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		exports.items[i].vaddr = 0;
	steps_left = INNER_STEPS_MAX;
	assert_int_equal(count_inner_add(&points, &code, NULL, 0), -E2BIG);
}

static void a_pending_signal_ends_a_search(void **state)
{
	const struct timespec no_time = { 0 };
	sigset_t term;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	raise(SIGTERM);
	steps_left = INNER_STEPS_MAX;
	assert_int_equal(count_inner_add(&points, &code, NULL, 0), -EINTR);
	assert_true(interrupt_is_pending());
	assert_int_equal(sigtimedwait(&term, NULL, &no_time), SIGTERM);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(a_call_of_its_own_function_is_found),
		TEST(a_search_ends_when_its_steps_are_used_up),
		TEST(too_many_names_of_a_function_end_a_search),
		TEST(a_pending_signal_ends_a_search),
#undef TEST
	};

	return cmocka_run_group_tests_name("inner", tests, NULL, NULL);
}
