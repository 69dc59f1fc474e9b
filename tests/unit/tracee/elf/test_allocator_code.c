/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/allocator_code.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define PAGE 4096
#define FILE_PAGES 40

/* A stand-in for /proc/PID, with files below its root. */
static struct tree tree;
static int process_fd;
static struct mapping_list mappings;
static struct allocator_codes codes;

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "root/other", "");
	process_fd = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mappings = (struct mapping_list)MAPPING_LIST_INIT;
	memset(&codes, 0, sizeof(codes));
	return process_fd < 0;
}

static int clean(void **state)
{
	(void)state;
	close(process_fd);
	mapping_list_release(&mappings);
	tree_remove(&tree);
	return 0;
}

/* Write a file that contains text at the given offset. */
static void write_file(const char *name, const char *text, size_t offset)
{
	static char bytes[FILE_PAGES * PAGE];
	char path[64];

	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes + offset, text, strlen(text));
	snprintf(path, sizeof(path), "root%s", name);
	tree_write_bytes(&tree, path, bytes, sizeof(bytes));
}

static void add(const char *name, uint32_t flags, uint64_t first_page,
		uint64_t page_count)
{
	static uint64_t addr = UINT64_C(1) << 30;
	struct mapping m = {
		.start_addr = addr,
		.end_addr = addr + page_count * PAGE,
		.file_offset_bytes = first_page * PAGE,
		.flags = MAPPING_READ | flags,
		.name = name,
		.name_length = (uint32_t)strlen(name),
	};
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "root%s", name);
	if (name[0] == '/' && fstatat(process_fd, path, &st, 0) == 0) {
		m.inode = st.st_ino;
		m.dev_major = major(st.st_dev);
		m.dev_minor = minor(st.st_dev);
	} else if (name[0] == '/') {
		m.inode = UINT64_C(1) << 40;
	}
	addr = m.end_addr + PAGE;
	mapping_list_add(&mappings, &m);
}

static void forget_mappings(void)
{
	mapping_list_release(&mappings);
	mappings = (struct mapping_list)MAPPING_LIST_INIT;
}

static struct allocator_code find(void)
{
	return allocator_code_find(&codes, process_fd, &mappings, CODE_ALL_FILES);
}

static void a_message_is_found_anywhere_in_mapped_code_or_constants(void **state)
{
	/* The search reads 64 KiB at a time. */
	static const size_t offsets[] = { 5 * PAGE, 65536 + PAGE - 1,
					  65536 + 5 * PAGE - 3, 65536 + 5 * PAGE - 11,
					  FILE_PAGES * PAGE - 12 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct allocator_code code;
		char name[32];

		snprintf(name, sizeof(name), "/program%zu", i);
		write_file(name, "<jemalloc>: ", offsets[i]);
		forget_mappings();
		add(name, MAPPING_EXEC, 0, 5);
		add(name, 0, 5, FILE_PAGES - 5);
		code = find();
		assert_row(code.is_complete, name);
		assert_row(code.is_found[ALLOCATOR_JEMALLOC], name);
		assert_row(!code.is_found[ALLOCATOR_GLIBC], name);
	}
}

static void only_mapped_code_and_constants_are_searched(void **state)
{
	struct allocator_code code;

	(void)state;
	write_file("/program", "<jemalloc>: ", 10 * PAGE);
	add("/program", MAPPING_EXEC, 0, 10);
	add("/program", MAPPING_WRITE, 10, 1);
	add("/program", 0, 11, 100); /* extends past the end of the file */
	code = find();
	assert_true(code.is_complete);
	assert_false(code.is_found[ALLOCATOR_JEMALLOC]);
}

static void every_library_is_searched(void **state)
{
	struct allocator_code code;

	(void)state;
	write_file("/program", "mimalloc: error: ", 0);
	write_file("/library", "corrupted double-linked list", PAGE);
	write_file("/data", "<jemalloc>: ", 0);
	add("/program", MAPPING_EXEC, 0, FILE_PAGES);
	add("/data", 0, 0, FILE_PAGES); /* the mapping contains no code */
	add("[vdso]", MAPPING_EXEC, 0, 2);
	add("/library", MAPPING_EXEC, 0, FILE_PAGES);
	code = find();
	assert_true(code.is_complete);
	assert_true(code.is_found[ALLOCATOR_MIMALLOC]);
	assert_true(code.is_found[ALLOCATOR_GLIBC]);
	assert_false(code.is_found[ALLOCATOR_JEMALLOC]);
}

static void the_search_is_incomplete_with_missing_files_or_anonymous_code(void **state)
{
	static const char *const names[] = { "/gone", "", "[anon:code]" };

	(void)state;
	write_file("/program", "", 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		forget_mappings();
		add("/program", MAPPING_EXEC, 0, FILE_PAGES);
		assert_true(find().is_complete);
		add(names[i], MAPPING_EXEC, 0, 1);
		assert_row(!find().is_complete, names[i]);
	}
}

static void a_huge_file_is_searched_only_in_part(void **state)
{
	_cleanup_close_ int fd = -1;

	(void)state;
	write_file("/program", "", 0);
	fd = openat(process_fd, "root/program", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, INT64_C(1) << 30), 0);
	add("/program", MAPPING_EXEC, 0, UINT64_C(1) << 18);
	assert_false(find().is_complete);
}

static void searched_files_are_not_read_again(void **state)
{
	(void)state;
	write_file("/program", "<jemalloc>: ", 0);
	add("/program", MAPPING_EXEC, 0, FILE_PAGES);
	assert_true(find().is_found[ALLOCATOR_JEMALLOC]);
	tree_delete(&tree, "root/program");
	assert_true(find().is_complete);
	assert_true(find().is_found[ALLOCATOR_JEMALLOC]);
	write_file("/library", "", 0);
	add("/library", MAPPING_EXEC, 0, FILE_PAGES);
	assert_false(find().is_complete);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make, clean)
	const struct CMUnitTest tests[] = {
		CASE(a_message_is_found_anywhere_in_mapped_code_or_constants),
		CASE(only_mapped_code_and_constants_are_searched),
		CASE(every_library_is_searched),
		CASE(the_search_is_incomplete_with_missing_files_or_anonymous_code),
		CASE(a_huge_file_is_searched_only_in_part),
		CASE(searched_files_are_not_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
