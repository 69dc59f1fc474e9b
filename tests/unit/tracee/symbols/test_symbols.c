/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from a process's files, and words of its memory. The
 * process is the test itself.
 */
#include "config.h"

#include "tracee/symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/self.h"
#include "tracee/memory/mapped_file.h"
#include "../../support/unit.h"

#define PAGE 4096

/* Symbols for the tests to find. */
__attribute__((noinline, used)) int test_symbols_function(int x);
int test_symbols_function(int x)
{
	return x * 3;
}

extern const uint64_t test_symbols_table[];
const uint64_t test_symbols_table[16] = { 1, 2, 3 };
extern char test_symbols_zeros[];
char test_symbols_zeros[3 * PAGE];

static void a_symbol_is_found_by_any_address_inside_it(void **state)
{
	static const struct {
		const char *name;
		bool is_object;
	} rows[] = {
		{ "test_symbols_function", false },
		{ "test_symbols_table", true },
		{ "test_symbols_zeros", true },
	};
	const uintptr_t addrs[] = { (uintptr_t)test_symbols_function,
				    (uintptr_t)test_symbols_table,
				    (uintptr_t)test_symbols_zeros };
	const uint64_t sizes[] = { 1, sizeof(test_symbols_table),
				   sizeof(test_symbols_zeros) };
	struct symbols *symbols;
	struct self self;

	(void)state;
	if (!HAVE_LIBELF)
		skip();
	self_init(&self);
	symbols = symbols_new(self.process_fd, &self.mappings);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct symbol symbol;

		assert_row(symbols_find(symbols, addrs[i] + sizes[i] - 1, &symbol),
			   rows[i].name);
		assert_string_equal(symbol.name, rows[i].name);
		assert_int_equal(symbol.addr, addrs[i]);
		assert_int_equal(symbol.is_object, rows[i].is_object);
		assert_true(symbol.bytes >= sizes[i]);
	}
	symbols_free(symbols);
	self_release(&self);
}

static void a_librarys_symbol_is_found_and_described(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct symbols *symbols;
	struct self self;

	(void)state;
	if (!HAVE_LIBELF)
		skip();
	self_init(&self);
	symbols = symbols_new(self.process_fd, &self.mappings);
	/*
	 * The address may belong to a stub or have another name, but
	 * it is certainly in libc.
	 */
	if (self_mapping(&self, stdout)->inode != 0) {
		assert_true(symbols_add_place(symbols, (uintptr_t)stdout + 8, &out));
		assert_non_null(strstr(out.text, "_IO_2_1_stdout_+8 in libc"));
	}
	strbuf_release(&out);
	symbols_free(symbols);
	self_release(&self);
}

static void memory_without_a_file_has_no_symbol(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct symbols *symbols;
	struct symbol symbol;
	struct self self;
	int on_stack = 0;

	(void)state;
	self_init(&self);
	symbols = symbols_new(self.process_fd, &self.mappings);
	assert_false(symbols_find(symbols, (uintptr_t)&on_stack, &symbol));
	assert_false(symbols_find(symbols, 0, &symbol));
	assert_false(symbols_find(symbols, UINT64_MAX, &symbol));
	assert_false(symbols_add_place(symbols, 16, &out));
	assert_false(symbols_find(NULL, (uintptr_t)test_symbols_table, &symbol));
	assert_int_equal(out.length, 0);
	symbols_free(symbols);
	self_release(&self);
}

static void a_replaced_file_has_no_symbols(void **state)
{
	struct symbols *symbols;
	struct symbol symbol;
	struct self self;

	(void)state;
	self_init(&self);
	for (size_t i = 0; i < self.mappings.count; i++)
		self.mappings.items[i].inode += self.mappings.items[i].inode != 0;
	assert_true(mapped_file_open(self.process_fd,
				     self_mapping(&self, test_symbols_table)) < 0);
	symbols = symbols_new(self.process_fd, &self.mappings);
	assert_false(symbols_find(symbols, (uintptr_t)test_symbols_table, &symbol));
	symbols_free(symbols);
	self_release(&self);
}

/* The file can be opened only through its map_files link, which requires a privilege. */
static void a_deleted_mapped_file_can_still_be_opened(void **state)
{
	char path[] = "test_symbols_XXXXXX", text[4] = "";
	int fd = mkstemp(path), again_fd;
	struct self self;
	void *map;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	self_init(&self);
	again_fd = mapped_file_open(self.process_fd, self_mapping(&self, map));
	if (again_fd >= 0) {
		assert_int_equal(read(again_fd, text, 3), 3);
		assert_string_equal(text, "abc");
		close(again_fd);
	} else {
		assert_int_equal(again_fd, -ESTALE);
	}
	munmap(map, PAGE);
	self_release(&self);
	if (again_fd < 0)
		skip();
}

/* Pretend that the program was mapped a page further, except for one mapping. */
static void a_file_mapped_at_inconsistent_offsets_has_no_symbols(void **state)
{
	struct symbols *symbols;
	struct symbol symbol;
	struct self self;

	(void)state;
	self_init(&self);
	self_mapping(&self, test_symbols_table)->file_offset_bytes += PAGE;
	symbols = symbols_new(self.process_fd, &self.mappings);
	assert_false(symbols_find(symbols, (uintptr_t)test_symbols_table, &symbol));
	symbols_free(symbols);
	self_release(&self);
}

static void words_are_read_from_pages_and_from_files(void **state)
{
	uint64_t words[3] = { 0 };
	struct self self;
	char text[8];

	(void)state;
	self_init(&self);
	assert_true(memory_read(&self.memory, (uintptr_t)test_symbols_table, words,
				sizeof(words)));
	assert_memory_equal(words, test_symbols_table, sizeof(words));
	/*
	 * The page is untouched and so not resident. Its content of zeros cannot be
	 * known without reading it.
	 */
	assert_false(memory_read(&self.memory, (uintptr_t)test_symbols_zeros + PAGE,
				 words, 8) &&
		     words[0] != 0);
	strcpy(test_symbols_zeros + PAGE - 3, "abcd");
	assert_true(memory_read_text(&self.memory,
				     (uintptr_t)test_symbols_zeros + PAGE - 3, text,
				     sizeof(text)));
	assert_string_equal(text, "abcd");
	assert_false(memory_read_text(&self.memory,
				      (uintptr_t)test_symbols_zeros + PAGE - 3, text, 4));
	assert_false(memory_read_text(&self.memory, (uintptr_t)test_symbols_zeros, text,
				      sizeof(text)));
	assert_false(memory_read(&self.memory, 0, words, 8));
	assert_false(memory_read(&self.memory, UINT64_MAX - 4, words, 8));
	self_release(&self);
}

static void reading_does_not_fault_in_missing_pages(void **state)
{
	char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char there[4];
	struct self self;
	uint64_t word;

	(void)state;
	assert_true(pages != MAP_FAILED);
	pages[PAGE] = 1;
	self_init(&self);
	assert_false(memory_read(&self.memory, (uintptr_t)pages, &word, 8));
	assert_true(memory_read(&self.memory, (uintptr_t)pages + PAGE, &word, 8));
	assert_false(
		memory_read(&self.memory, (uintptr_t)pages + 2 * PAGE - 4, &word, 8));
	assert_int_equal(mincore(pages, 4 * PAGE, there), 0);
	assert_int_equal(there[0] & 1, 0);
	assert_int_equal(there[2] & 1, 0);
	self_release(&self);
	munmap(pages, 4 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_found_by_any_address_inside_it),
		cmocka_unit_test(a_librarys_symbol_is_found_and_described),
		cmocka_unit_test(memory_without_a_file_has_no_symbol),
		cmocka_unit_test(a_replaced_file_has_no_symbols),
		cmocka_unit_test(a_deleted_mapped_file_can_still_be_opened),
		cmocka_unit_test(a_file_mapped_at_inconsistent_offsets_has_no_symbols),
		cmocka_unit_test(words_are_read_from_pages_and_from_files),
		cmocka_unit_test(reading_does_not_fault_in_missing_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
