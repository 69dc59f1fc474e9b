/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in a process's files, and words of its memory: of this process itself. */
#include "config.h"

#include "target/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "target/mapped_file.h"
#include "target/memory.h"
#include "unit.h"

#define PAGE 4096

/* Things to find. */
__attribute__((noinline, used)) int test_symbols_function(int x);
int test_symbols_function(int x)
{
	return x * 3;
}

extern const uint64_t test_symbols_table[];
const uint64_t test_symbols_table[16] = { 1, 2, 3 };
extern char test_symbols_zeros[];
char test_symbols_zeros[3 * PAGE];

/* This process, as memstate sees another. */
struct self {
	int process_fd;
	struct mapping_list mappings;
	struct memory memory;
};

static void read_maps(struct mapping_list *list)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[8192];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct mapping m = { .name = "" };
		char perms[5];
		int at = 0;

		assert_true(sscanf(line,
				   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32
				   ":%" SCNx32 " %" SCNu64 " %n",
				   &m.start_addr, &m.end_addr, perms, &m.file_offset_bytes,
				   &m.dev_major, &m.dev_minor, &m.inode, &at) >= 7);
		m.flags = (perms[0] == 'r' ? MAPPING_READ : 0u) |
			  (perms[1] == 'w' ? MAPPING_WRITE : 0u) |
			  (perms[2] == 'x' ? MAPPING_EXEC : 0u) |
			  (perms[3] == 's' ? MAPPING_SHARED : 0u);
		line[strcspn(line, "\n")] = '\0';
		m.name = line + at;
		m.name_length = (uint32_t)strlen(m.name);
		mapping_list_add(list, &m);
	}
	fclose(f);
}

static void self_init(struct self *self)
{
	*self = (struct self){ .mappings = MAPPING_LIST_INIT, .memory = MEMORY_INIT };
	self->process_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(self->process_fd >= 0);
	read_maps(&self->mappings);
	self->memory.process_fd = self->process_fd;
	self->memory.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	self->memory.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	self->memory.mappings = &self->mappings;
	if (self->memory.mem_fd < 0 || self->memory.pagemap_fd < 0)
		skip();
}

static void self_release(struct self *self)
{
	memory_release(&self->memory);
	close(self->memory.mem_fd);
	close(self->memory.pagemap_fd);
	close(self->process_fd);
	mapping_list_release(&self->mappings);
}

static struct mapping *mapping_of(struct self *self, const void *at)
{
	for (size_t i = 0; i < self->mappings.count; i++) {
		struct mapping *m = &self->mappings.items[i];

		if ((uintptr_t)at >= m->start_addr && (uintptr_t)at < m->end_addr)
			return m;
	}
	fail_msg("no mapping");
	return NULL;
}

static void a_symbol_is_found_by_each_of_its_addresses(void **state)
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
	const uint64_t sizes[] = { 1, sizeof(test_symbols_table), sizeof(test_symbols_zeros) };
	struct symbols *symbols;
	struct self self;

	(void)state;
	if (!HAVE_LIBELF)
		skip();
	self_init(&self);
	symbols = symbols_new(self.process_fd, &self.mappings);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct symbol symbol;

		assert_row(symbols_find(symbols, addrs[i] + sizes[i] - 1, &symbol), rows[i].name);
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
	/* where it is may be a stub's place, or be called otherwise; that it is libc's is sure */
	if (mapping_of(&self, stdout)->inode != 0) {
		assert_true(symbols_add_place(symbols, (uintptr_t)stdout + 8, &out));
		assert_non_null(strstr(out.text, "_IO_2_1_stdout_+8 in libc"));
	}
	strbuf_release(&out);
	symbols_free(symbols);
	self_release(&self);
}

static void what_is_in_no_file_has_no_symbol(void **state)
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

static void a_file_that_is_not_the_mapped_one_has_no_symbols(void **state)
{
	struct symbols *symbols;
	struct symbol symbol;
	struct self self;

	(void)state;
	self_init(&self);
	for (size_t i = 0; i < self.mappings.count; i++)
		self.mappings.items[i].inode += self.mappings.items[i].inode != 0;
	assert_true(mapped_file_open(self.process_fd,
				     mapping_of(&self, test_symbols_table)) < 0);
	symbols = symbols_new(self.process_fd, &self.mappings);
	assert_false(symbols_find(symbols, (uintptr_t)test_symbols_table, &symbol));
	symbols_free(symbols);
	self_release(&self);
}

/* As if the program had been mapped a page further, but for one mapping. */
static void a_file_that_lies_otherwise_than_it_says_has_no_symbols(void **state)
{
	struct symbols *symbols;
	struct symbol symbol;
	struct self self;

	(void)state;
	self_init(&self);
	mapping_of(&self, test_symbols_table)->file_offset_bytes += PAGE;
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
	/* not touched yet, and so not there: of zeros nothing is known without a look */
	assert_false(memory_read(&self.memory, (uintptr_t)test_symbols_zeros + PAGE, words, 8) &&
		     words[0] != 0);
	strcpy(test_symbols_zeros + PAGE - 3, "abcd");
	assert_true(memory_read_text(&self.memory, (uintptr_t)test_symbols_zeros + PAGE - 3,
				     text, sizeof(text)));
	assert_string_equal(text, "abcd");
	assert_false(memory_read_text(&self.memory,
				      (uintptr_t)test_symbols_zeros + PAGE - 3, text, 4));
	assert_false(memory_read_text(&self.memory, (uintptr_t)test_symbols_zeros, text,
				      sizeof(text)));
	assert_false(memory_read(&self.memory, 0, words, 8));
	assert_false(memory_read(&self.memory, UINT64_MAX - 4, words, 8));
	self_release(&self);
}

static void a_page_that_is_not_there_is_not_brought_in(void **state)
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
	assert_false(memory_read(&self.memory, (uintptr_t)pages + 2 * PAGE - 4, &word, 8));
	assert_int_equal(mincore(pages, 4 * PAGE, there), 0);
	assert_int_equal(there[0] & 1, 0);
	assert_int_equal(there[2] & 1, 0);
	self_release(&self);
	munmap(pages, 4 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_found_by_each_of_its_addresses),
		cmocka_unit_test(a_librarys_symbol_is_found_and_described),
		cmocka_unit_test(what_is_in_no_file_has_no_symbol),
		cmocka_unit_test(a_file_that_is_not_the_mapped_one_has_no_symbols),
		cmocka_unit_test(a_file_that_lies_otherwise_than_it_says_has_no_symbols),
		cmocka_unit_test(words_are_read_from_pages_and_from_files),
		cmocka_unit_test(a_page_that_is_not_there_is_not_brought_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
