/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/exports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "tracee/elf/reader.h"

static int add_parts(struct elf_reader *reader, struct elf_exports *exports)
{
	int r = elf_reader_read_segments(reader);

	for (size_t i = 0; r == 0 && i < reader->header.e_phnum; i++) {
		const Elf64_Phdr *part = &reader->segments[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (exports->part_count == ELF_PARTS_MAX)
			return -EBADMSG;
		exports->parts[exports->part_count++] =
			(struct elf_part){ part->p_vaddr, part->p_offset, part->p_filesz,
					   part->p_flags & PF_X, part->p_flags & PF_W };
	}
	return r == 0 && exports->part_count == 0 ? -EBADMSG : r;
}

enum table {
	TABLE_DYNAMIC,
	TABLE_PROGRAM,
	TABLE_ALL
};

static bool is_wanted(const Elf64_Sym *symbol, enum table which)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_value != 0 && symbol->st_name != 0 && type != STT_TLS &&
	       type != STT_GNU_IFUNC &&
	       (which == TABLE_ALL || ELF64_ST_BIND(symbol->st_info) != STB_LOCAL);
}

static int add_symbols(struct elf_reader *reader, enum table which,
		       struct elf_exports *exports)
{
	_cleanup_elf_symbol_table_ struct elf_symbol_table table = { .items = NULL };
	int r = elf_reader_find_section(reader,
					which == TABLE_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB);

	if (r >= 0)
		r = elf_reader_read_symbols(reader, (size_t)r, &table);
	if (r < 0)
		return r;
	exports->items = xcalloc(table.count + 1, sizeof(*exports->items));
	for (size_t i = 0; i < table.count; i++) {
		const Elf64_Sym *symbol = &table.items[i];
		const char *name = elf_symbol_table_name(&table, symbol);

		if (name && is_wanted(symbol, which))
			exports->items[exports->count++] = (struct elf_export){
				.vaddr = symbol->st_value,
				.bytes = symbol->st_size,
				.name = name,
				.is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC,
			};
	}
	exports->names = table.names;
	table.names = NULL;
	return 0;
}

static int read_exports(int fd, enum table which, struct elf_exports *ret)
{
	_cleanup_elf_reader_ struct elf_reader reader;
	struct elf_exports exports = ELF_EXPORTS_INIT;
	int r = elf_reader_open_native(fd, &reader);

	if (r == 0)
		r = add_parts(&reader, &exports);
	if (r == 0)
		r = add_symbols(&reader, which, &exports);
	if (r == 0)
		*ret = exports;
	else
		elf_exports_release(&exports);
	return r;
}

int elf_exports_read(int fd, struct elf_exports *ret)
{
	return read_exports(fd, TABLE_DYNAMIC, ret);
}

int elf_exports_read_program(int fd, struct elf_exports *ret)
{
	return read_exports(fd, TABLE_PROGRAM, ret);
}

int elf_exports_read_all(int fd, struct elf_exports *ret)
{
	return read_exports(fd, TABLE_ALL, ret);
}

void elf_exports_release(struct elf_exports *exports)
{
	free(exports->items);
	free(exports->names);
	*exports = (struct elf_exports)ELF_EXPORTS_INIT;
}

const struct elf_export *elf_exports_find(const struct elf_exports *exports,
					  const char *name)
{
	for (size_t i = 0; i < exports->count; i++)
		if (strcmp(exports->items[i].name, name) == 0)
			return &exports->items[i];
	return NULL;
}

bool elf_exports_offset(const struct elf_exports *exports, uint64_t vaddr,
			uint64_t *ret_bytes)
{
	for (size_t i = 0; i < exports->part_count; i++) {
		const struct elf_part *part = &exports->parts[i];

		if (vaddr < part->vaddr || vaddr - part->vaddr >= part->file_bytes)
			continue;
		*ret_bytes = part->offset_bytes + (vaddr - part->vaddr);
		return true;
	}
	return false;
}

bool elf_exports_base(const struct elf_exports *exports, const struct mapping *m,
		      uint64_t *ret)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	/*
	 * the kernel maps a segment from the start of the page that
	 * contains its first byte
	 */
	for (size_t i = 0; i < exports->part_count; i++) {
		const struct elf_part *part = &exports->parts[i];

		if (part->offset_bytes / page_bytes * page_bytes != m->file_offset_bytes)
			continue;
		*ret = m->start_addr - part->vaddr / page_bytes * page_bytes;
		return true;
	}
	return false;
}
