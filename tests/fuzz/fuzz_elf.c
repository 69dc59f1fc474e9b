/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a file that a process has mapped, with arbitrary
 * content; its symbols are looked up.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/io.h"
#include "fuzz.h"
#include "tracee/elf/build_id.h"
#include "tracee/elf/exports.h"
#include "tracee/elf/imports.h"
#include "tracee/elf/reader.h"
#include "tracee/elf/symbols.h"

#define NAMES_ASKED 64

static void check_symbols(const struct elf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct elf_symbol *symbol = &symbols->items[i];
		const struct elf_symbol *found = elf_symbols_find(symbols, symbol->vaddr);
		struct strbuf name = STRBUF_INIT;

		CHECK(i == 0 || symbol[-1].vaddr < symbol->vaddr);
		CHECK(symbol->bytes > 0 && symbol->name);
		CHECK(found == symbol);
		if (i < NAMES_ASKED)
			demangle_add(&name, symbol->name);
		strbuf_release(&name);
	}
	CHECK(!elf_symbols_find(symbols, UINT64_MAX) || symbols->count > 0);
}

static void check_exports(const struct elf_exports *exports)
{
	uint64_t offset_bytes;

	CHECK(exports->part_count > 0 && exports->part_count <= ELF_PARTS_MAX);
	for (size_t i = 0; i < exports->count && i < NAMES_ASKED; i++)
		CHECK(elf_exports_find(exports, exports->items[i].name));
	(void)elf_exports_offset(exports, UINT64_MAX, &offset_bytes);
}

static void check_imports(int fd)
{
	static const char *const names[] = { "malloc", "free", "" };
	struct elf_imports imports = ELF_IMPORTS_INIT;
	uint64_t vaddr;

	if (elf_imports_read(fd, names, sizeof(names) / sizeof(names[0]), &imports) == 0)
		for (size_t i = 0; i < imports.count; i++)
			CHECK(imports.items[i].name < sizeof(names) / sizeof(names[0]));
	elf_imports_release(&imports);
	(void)elf_frame_tables_find(fd, &vaddr);
}

static void check_names(const struct elf_symbol_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const char *name = elf_symbol_table_name(table, &table->items[i]);

		CHECK(!name || name + strlen(name) <= table->names + table->names_bytes);
	}
}

static void check_tables(int fd)
{
	struct elf_symbol_table table = { .items = NULL };
	struct elf_reader reader;
	int r = elf_reader_open(fd, &reader);

	if (r == 0 && elf_reader_read_segments(&reader) == 0 && reader.header.e_phnum > 0)
		(void)*(volatile Elf64_Word *)&reader.segments[reader.header.e_phnum - 1]
			.p_flags;
	if (r == 0 && elf_reader_read_sections(&reader) == 0)
		for (size_t i = 0; i <= reader.header.e_shnum; i++)
			if (elf_reader_read_symbols(&reader, i, &table) == 0) {
				check_names(&table);
				elf_symbol_table_release(&table);
			}
	CHECK(reader.read_bytes <= ELF_READ_MAX_BYTES);
	elf_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbols symbols = ELF_SYMBOLS_INIT;
	struct elf_exports exports = ELF_EXPORTS_INIT;
	struct elf_build_id id;
	int fd = memfd_create("elf", MFD_CLOEXEC);

	CHECK(fd >= 0 && io_write_all(fd, data, size) == 0);
	check_tables(fd);
	CHECK(elf_build_id_read(fd, &id) < 0 || id.length <= ELF_BUILD_ID_MAX);
	if (elf_exports_read(fd, &exports) == 0)
		check_exports(&exports);
	elf_exports_release(&exports);
	check_imports(fd);
	if (elf_symbols_read(fd, -1, &symbols) == 0) {
		CHECK(symbols.segment_count > 0);
		check_symbols(&symbols);
	}
	elf_symbols_release(&symbols);
	return 0;
}
