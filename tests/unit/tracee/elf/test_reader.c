/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "../../support/made_file.h"
#include "../../support/unit.h"

enum {
	NO_SECTION,
	SYMBOLS,
	NAMES,
	SECTION_COUNT
};

static const char names[] = "\0alpha\0beta"; /* the last name has no NUL in the file */

/* A 64-bit file with one segment and one symbol table. */
struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[SECTION_COUNT];
	Elf64_Sym symbols[3];
	char names[sizeof(names) - 1];
};

static struct made make(void)
{
	struct made made = {
		.segment = { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x1234 },
		.sections[SYMBOLS] = { .sh_type = SHT_DYNSYM,
				       .sh_offset = offsetof(struct made, symbols),
				       .sh_size = sizeof(made.symbols),
				       .sh_link = NAMES },
		.sections[NAMES] = { .sh_type = SHT_STRTAB,
				     .sh_offset = offsetof(struct made, names),
				     .sh_size = sizeof(made.names) },
		.symbols = { { .st_name = 1 }, { .st_name = 7 }, { .st_name = 11 } },
	};
	struct elf_reader own;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_reader_open_native(fd, &own), 0);
	close(fd);
	made.header = own.header;
	made.header.e_phoff = offsetof(struct made, segment);
	made.header.e_phnum = 1;
	made.header.e_shoff = offsetof(struct made, sections);
	made.header.e_shnum = SECTION_COUNT;
	memcpy(made.names, names, sizeof(made.names));
	return made;
}

/* Returns the result for the dynamic symbols. */
static int read_symbols(const struct made *made, struct elf_symbol_table *ret)
{
	_cleanup_close_ int fd = made_file(made, sizeof(*made));
	_cleanup_elf_reader_ struct elf_reader reader;
	int r = elf_reader_open_native(fd, &reader);

	if (r == 0)
		r = elf_reader_find_section(&reader, SHT_DYNSYM);
	return r < 0 ? r : elf_reader_read_symbols(&reader, (size_t)r, ret);
}

static void names_end_with_their_section(void **state)
{
	struct elf_symbol_table table = { .items = NULL };
	struct made made = make();

	(void)state;
	assert_int_equal(read_symbols(&made, &table), 0);
	assert_int_equal(table.count, ARRAY_SIZE(made.symbols));
	assert_string_equal(elf_symbol_table_name(&table, &table.items[0]), "alpha");
	assert_string_equal(elf_symbol_table_name(&table, &table.items[1]), "beta");
	assert_null(elf_symbol_table_name(&table, &table.items[2]));
	elf_symbol_table_release(&table);
}

static void false_sizes_and_links_are_refused(void **state)
{
	static const struct {
		size_t section;
		Elf64_Shdr header;
		const char *why;
	} rows[] = {
		{ SYMBOLS, { .sh_size = UINT64_MAX, .sh_link = NAMES }, "huge" },
		{ SYMBOLS, { .sh_size = ELF_SECTION_MAX_BYTES + 1 }, "over the limit" },
		{ SYMBOLS, { .sh_offset = UINT64_MAX, .sh_size = 24 }, "far away" },
		{ SYMBOLS, { .sh_offset = sizeof(struct made), .sh_size = 24 }, "cut" },
		{ SYMBOLS, { .sh_size = 24, .sh_link = SECTION_COUNT }, "no names" },
		{ SYMBOLS, { .sh_size = 24, .sh_link = UINT32_MAX }, "no such section" },
		{ NAMES, { .sh_type = SHT_NOBITS, .sh_size = 24 }, "not in the file" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct elf_symbol_table table = { .count = 7 };
		struct made made = make();
		Elf64_Shdr *section = &made.sections[rows[i].section];

		*section = rows[i].header;
		if (rows[i].section == SYMBOLS)
			section->sh_type = SHT_DYNSYM;
		assert_row(read_symbols(&made, &table) == -EBADMSG, rows[i].why);
		assert_row(table.count == 7 && !table.items, rows[i].why);
	}
}

static void one_file_cannot_make_it_read_without_end(void **state)
{
	struct made made = make();
	int fd = made_file(&made, sizeof(made));
	_cleanup_elf_reader_ struct elf_reader reader;
	void *bytes;

	(void)state;
	assert_int_equal(ftruncate(fd, ELF_SECTION_MAX_BYTES + 1), 0);
	assert_int_equal(elf_reader_open_native(fd, &reader), 0);
	assert_int_equal(elf_reader_read_sections(&reader), 0);
	reader.sections[NAMES].sh_offset = 0;
	reader.sections[NAMES].sh_size = ELF_SECTION_MAX_BYTES + 1;
	assert_int_equal(elf_reader_read_section(&reader, NAMES, &bytes), -EBADMSG);
	reader.sections[NAMES].sh_size = ELF_SECTION_MAX_BYTES;
	reader.read_bytes = ELF_READ_MAX_BYTES - ELF_SECTION_MAX_BYTES;
	assert_int_equal(elf_reader_read_section(&reader, NAMES, &bytes), 0);
	free(bytes);
	reader.sections[NAMES].sh_size = 1;
	assert_int_equal(elf_reader_read_section(&reader, NAMES, &bytes), -EBADMSG);
	close(fd);
}

static void other_files_are_not_native(void **state)
{
	struct made foreign_order = make(), foreign_machine = make(), narrow = make();
	const struct {
		const void *bytes;
		size_t length;
		bool is_elf;
		const char *why;
	} rows[] = {
		{ "", 0, false, "empty" },
		{ "#!/bin/sh\n", 10, false, "a script" },
		{ ELFMAG, SELFMAG, false, "cut" },
		{ &foreign_order, sizeof(struct made), true, "another byte order" },
		{ &foreign_machine, sizeof(struct made), true, "another machine" },
		{ &narrow, sizeof(struct made), true, "32 bits" },
	};

	(void)state;
	foreign_order.header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	foreign_machine.header.e_machine ^= 0x100;
	narrow.header.e_ident[EI_CLASS] = ELFCLASS32;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = made_file(rows[i].bytes, rows[i].length);
		struct elf_reader reader;
		uint64_t vaddr = 7;

		assert_row((elf_reader_open(fd, &reader) == 0) == rows[i].is_elf,
			   rows[i].why);
		elf_reader_release(&reader);
		assert_row(!elf_is_native(fd), rows[i].why);
		assert_row(elf_frame_tables_find(fd, &vaddr) == -ENOEXEC && vaddr == 7,
			   rows[i].why);
		close(fd);
	}
}

static void segments_of_another_form_are_refused(void **state)
{
	struct made foreign_order = make(), larger = make();
	const struct made *const rows[] = { &foreign_order, &larger };

	(void)state;
	foreign_order.header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	larger.header.e_phentsize++;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = made_file(rows[i], sizeof(*rows[i]));
		struct elf_reader reader;

		assert_int_equal(elf_reader_open(fd, &reader), 0);
		assert_int_equal(elf_reader_read_segments(&reader), -ENOEXEC);
		assert_null(reader.segments);
		elf_reader_release(&reader);
		close(fd);
	}
}

static void headers_of_32_bits_are_converted(void **state)
{
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segments[2];
	} made = { .header = { .e_machine = EM_386,
			       .e_phoff = sizeof(Elf32_Ehdr),
			       .e_phentsize = sizeof(Elf32_Phdr),
			       .e_phnum = 2 },
		   .segments = {
			   { .p_type = PT_LOAD },
			   { .p_type = PT_INTERP, .p_offset = 5, .p_filesz = 6 } } };
	const struct made own = make();
	struct elf_reader reader;
	int fd;

	(void)state;
	memcpy(made.header.e_ident, own.header.e_ident, EI_NIDENT);
	made.header.e_ident[EI_CLASS] = ELFCLASS32;
	fd = made_file(&made, sizeof(made));
	assert_int_equal(elf_reader_open(fd, &reader), 0);
	assert_int_equal(reader.header.e_machine, EM_386);
	assert_int_equal(elf_reader_read_segments(&reader), 0);
	assert_int_equal(reader.segments[1].p_type, PT_INTERP);
	assert_int_equal(reader.segments[1].p_offset, 5);
	assert_int_equal(reader.segments[1].p_filesz, 6);
	assert_int_equal(elf_reader_read_sections(&reader), -ENODATA);
	elf_reader_release(&reader);
	close(fd);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first module is the program itself */
}

static void the_exception_tables_are_found(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t vaddr = 0, base_addr = 0;

	(void)state;
	dl_iterate_phdr(find_base, &base_addr);
	assert_int_equal(elf_frame_tables_find(fd, &vaddr), 0);
	/* the table's version, which the Linux Standard Base defines as 1 */
	assert_int_equal(*(const uint8_t *)(uintptr_t)(base_addr + vaddr), 1);
	close(fd);
}

/* Overwrite each word of the header and of the rest of the file, one after the other. */
static void a_falsified_file_is_read_without_harm(void **state)
{
	(void)state;
	for (size_t at = SELFMAG; at < offsetof(struct made, names); at += 2) {
		struct elf_symbol_table table = { .items = NULL };
		struct made made = make();
		uint64_t vaddr;
		int fd;

		memset((char *)&made + at, 0xff, 2);
		if (read_symbols(&made, &table) == 0)
			for (size_t i = 0; i < table.count; i++)
				(void)elf_symbol_table_name(&table, &table.items[i]);
		elf_symbol_table_release(&table);
		fd = made_file(&made, sizeof(made));
		(void)elf_frame_tables_find(fd, &vaddr);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_end_with_their_section),
		cmocka_unit_test(false_sizes_and_links_are_refused),
		cmocka_unit_test(one_file_cannot_make_it_read_without_end),
		cmocka_unit_test(other_files_are_not_native),
		cmocka_unit_test(segments_of_another_form_are_refused),
		cmocka_unit_test(headers_of_32_bits_are_converted),
		cmocka_unit_test(the_exception_tables_are_found),
		cmocka_unit_test(a_falsified_file_is_read_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
