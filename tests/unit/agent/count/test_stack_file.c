/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack file that another process overwrites while a program counts in it. */
#include "config.h"

#include "agent/count/stack_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/unit.h"

#define SECONDS_MAX 30 /* so that an endless loop fails the test, too */
#define PATH_BYTES 16384

static struct stack_file file, other;

static int create(struct stack_file *ret)
{
	char folder[] = "/tmp/test_stack_file.XXXXXX";
	const struct stack_mode mode = { .has_live = true };

	memset(ret, 0, sizeof(*ret));
	if (!mkdtemp(folder))
		return -1;
	snprintf(ret->path, sizeof(ret->path), "%s/stacks", folder);
	if (!stack_file_create(ret, &mode, 0))
		return -1;
	unlink(ret->path);
	return rmdir(folder);
}

static int begin(void **state)
{
	(void)state;
	alarm(SECONDS_MAX);
	return create(&file) < 0 || create(&other) < 0 ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	stack_file_close(&file);
	stack_file_close(&other);
	alarm(0);
	return 0;
}

static struct stack_file_module *first_record(void)
{
	return (void *)((char *)file.head + STACK_HEAD_BYTES);
}

static int add(uint64_t start, const char *path)
{
	const struct stack_file_module module = { .start = start, .end = start + 0x1000 };

	return stack_file_add_module(&file, &module, path);
}

static size_t count_modules(void)
{
	uint32_t at = 0;
	size_t count = 0;

	while (stack_file_next_module(&file, &at)) {
		assert_true(at <= STACK_MODULES_BYTES);
		count++;
	}
	return count;
}

static void modules_are_found_by_start_and_path(void **state)
{
	(void)state;
	assert_int_equal(add(0x1000, "/lib/one"), 0);
	assert_int_equal(add(0x2000, "/lib/two"), 0);
	assert_int_equal(add(0x1000, "/lib/one"), 0);
	assert_int_equal(count_modules(), 2);
	assert_int_equal(add(0x1000, "/lib/other"), 1);
	assert_int_equal(count_modules(), 3);
	assert_int_equal(file.head->module_bytes, file.module_bytes);
}

static void a_damaged_record_size_ends_the_search(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 8, 64, 73, 0x7ff8, 0xfff8, 0xffff };

	(void)state;
	assert_int_equal(add(0x1000, "/lib/one"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t bytes = file.module_bytes;

		first_record()->record_bytes = sizes[i];
		assert_int_equal(count_modules(), 0);
		add(0x10000 * (i + 2), "/lib/next");
		assert_true(file.module_bytes > bytes);
	}
}

static void the_size_of_modules_in_the_head_is_not_trusted(void **state)
{
	static const uint32_t sizes[] = {
		0, 7, STACK_MODULES_BYTES, UINT32_C(1) << 31, UINT32_MAX - 79, UINT32_MAX
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		file.head->module_bytes = sizes[i];
		assert_int_equal(add(0x10000 * (i + 1), "/lib/next"), 0);
		assert_int_equal(count_modules(), i + 1);
		assert_int_equal(file.head->module_bytes, file.module_bytes);
	}
}

/*
 * The terminating NUL is missing, and the bytes after the last record
 * look like the rest of the path.
 */
static void a_path_ends_with_the_last_record(void **state)
{
	static char path[4096 + 8 + 1];
	size_t room;

	(void)state;
	memset(path, 'x', 4095);
	assert_int_equal(add(0x1000, path), 0);
	room = first_record()->record_bytes - offsetof(struct stack_file_module, path);
	assert_int_equal(room, 4096);
	memset(path, 'x', sizeof(path) - 1);
	memcpy((char *)first_record() + offsetof(struct stack_file_module, path), path,
	       sizeof(path));
	assert_int_equal(add(0x1000, path), 1);
	assert_int_equal(count_modules(), 2);
}

static void a_module_of_a_damaged_file_is_copied_within_its_bounds(void **state)
{
	struct stack_file_module module = { .start = 1, .end = 2, .build_id_bytes = 255 };
	char *long_path = mmap(NULL, PATH_BYTES + 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(long_path, MAP_FAILED);
	memset(long_path, 'x', PATH_BYTES);
	assert_int_equal(mprotect(long_path + PATH_BYTES, 4096, PROT_NONE), 0);
	assert_int_equal(stack_file_add_module(&other, &module, long_path), 0);
	munmap(long_path, PATH_BYTES + 4096);
	assert_int_equal(other.module_bytes, 0);
	assert_int_equal(other.head->lost_module_count, 1);
	assert_int_equal(stack_file_add_module(&other, &module, "/lib/one"), 0);
	assert_int_equal(stack_file_add_module(&other, &module, "/lib/one"), 0);
	assert_true(other.module_bytes > 0 && other.module_bytes < 200);
}

static void nodes_are_never_placed_outside_the_file(void **state)
{
	static const uint32_t counts[] = { 0,
					   1,
					   STACK_NODE_MAX,
					   STACK_NODE_MAX - 16,
					   UINT32_C(1) << 31,
					   UINT32_MAX - 15,
					   UINT32_MAX };
	uint32_t first = 0;

	(void)state;
	assert_true(stack_file_take_nodes(&file, 32, &first));
	assert_int_equal(first, STACK_NODE_CUT + 1);
	assert_int_equal(stack_file_count_nodes(&file), first + 32);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		file.head->node_count = counts[i];
		assert_false(stack_file_take_nodes(&file, 32, &first));
		assert_true(stack_file_count_nodes(&file) > STACK_NODE_CUT);
		assert_true(stack_file_count_nodes(&file) <= file.reserved_nodes);
	}
	assert_true(file.reserved_nodes <= file.node_max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(modules_are_found_by_start_and_path,
						begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_record_size_ends_the_search,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_size_of_modules_in_the_head_is_not_trusted, begin, end),
		cmocka_unit_test_setup_teardown(a_path_ends_with_the_last_record, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_module_of_a_damaged_file_is_copied_within_its_bounds, begin,
			end),
		cmocka_unit_test_setup_teardown(nodes_are_never_placed_outside_the_file,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
