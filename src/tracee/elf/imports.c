/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/imports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tracee/elf/reader.h"

#define PLACES_MAX 4096

#if defined(__aarch64__)
#	define FOR_CALLS R_AARCH64_JUMP_SLOT
#	define FOR_ALL R_AARCH64_GLOB_DAT
#	define IN_DATA R_AARCH64_ABS64
#else
#	define FOR_CALLS R_X86_64_JUMP_SLOT
#	define FOR_ALL R_X86_64_GLOB_DAT
#	define IN_DATA R_X86_64_64
#endif

struct reading {
	struct elf_reader file;
	const char *const *names;
	size_t name_count;
	/* symbol table read most recently, and the index of its section */
	struct elf_symbol_table symbols;
	size_t symbols_index;
	struct elf_imports imports;
};

static int read_symbols(struct reading *reading, size_t index)
{
	if (reading->symbols.items && reading->symbols_index == index)
		return 0;
	elf_symbol_table_release(&reading->symbols);
	reading->symbols_index = index;
	return elf_reader_read_symbols(&reading->file, index, &reading->symbols);
}

/* Return the index of the symbol's name in names, or name_count if it is not in names. */
static size_t find_name(const struct reading *reading, uint64_t symbol)
{
	const char *text = NULL;
	size_t i = 0;

	if (reading->names && symbol < reading->symbols.count)
		text = elf_symbol_table_name(&reading->symbols,
					     &reading->symbols.items[symbol]);
	if (!text)
		return reading->name_count;
	while (i < reading->name_count && strcmp(text, reading->names[i]) != 0)
		i++;
	return i;
}

static int add_places(struct reading *reading, const Elf64_Rela *places, size_t count)
{
	struct elf_imports *imports = &reading->imports;

	for (size_t i = 0; i < count; i++) {
		uint64_t type = ELF64_R_TYPE(places[i].r_info);
		uint64_t symbol = ELF64_R_SYM(places[i].r_info);
		size_t name;

		if ((type != FOR_CALLS && type != FOR_ALL && type != IN_DATA) ||
		    places[i].r_addend != 0)
			continue;
		name = find_name(reading, symbol);
		if (name == reading->name_count)
			continue;
		if (imports->count == PLACES_MAX)
			return -EBADMSG;
		imports->items = xgrow(imports->items, &imports->capacity,
				       imports->count + 1, sizeof(*imports->items));
		imports->items[imports->count++] = (struct elf_import){
			.vaddr = places[i].r_offset,
			.name = name,
			.is_for_calls = type == FOR_CALLS,
			.is_variable = type == IN_DATA,
			.is_weak =
				ELF64_ST_BIND(reading->symbols.items[symbol].st_info) ==
				STB_WEAK,
		};
	}
	return 0;
}

static int read_places(struct reading *reading, size_t index)
{
	const Elf64_Shdr *sections = reading->file.sections;
	const Elf64_Shdr *section = &sections[index];
	_cleanup_free_ void *places = NULL;
	int r;

	if (section->sh_type != SHT_RELA ||
	    section->sh_link >= reading->file.header.e_shnum ||
	    sections[section->sh_link].sh_type != SHT_DYNSYM)
		return 0;
	r = read_symbols(reading, section->sh_link);
	if (r == 0)
		r = elf_reader_read_section(&reading->file, index, &places);
	if (r == 0)
		r = add_places(reading, places, section->sh_size / sizeof(Elf64_Rela));
	return r;
}

static int read_file(struct reading *reading)
{
	int r = elf_reader_read_sections(&reading->file);

	for (size_t i = 0; r == 0 && i < reading->file.header.e_shnum; i++)
		r = read_places(reading, i);
	return r == -ENODATA ? 0 : r;
}

int elf_imports_read(int fd, const char *const *names, size_t name_count,
		     struct elf_imports *ret)
{
	struct reading reading = { .names = names, .name_count = name_count };
	int r = elf_reader_open_native(fd, &reading.file);

	if (r == 0)
		r = read_file(&reading);
	elf_reader_release(&reading.file);
	elf_symbol_table_release(&reading.symbols);
	if (r < 0)
		elf_imports_release(&reading.imports);
	else
		*ret = reading.imports;
	return r;
}

void elf_imports_release(struct elf_imports *imports)
{
	free(imports->items);
	*imports = (struct elf_imports)ELF_IMPORTS_INIT;
}
