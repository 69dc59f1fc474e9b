/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/imports.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"

/* More than the tables of any library that was seen. */
#define TABLE_MAX_BYTES (UINT64_C(64) << 20)
#define PLACES_MAX 4096

#if defined(__aarch64__)
#	define MACHINE EM_AARCH64
#	define FOR_CALLS R_AARCH64_JUMP_SLOT
#	define FOR_ALL R_AARCH64_GLOB_DAT
#	define IN_DATA R_AARCH64_ABS64
#else
#	define MACHINE EM_X86_64
#	define FOR_CALLS R_X86_64_JUMP_SLOT
#	define FOR_ALL R_X86_64_GLOB_DAT
#	define IN_DATA R_X86_64_64
#endif

struct reading {
	int fd;
	const char *const *names;
	size_t name_count;
	Elf64_Shdr *sections;
	size_t section_count;
	/* of the table of symbols that was read last */
	size_t table;
	Elf64_Sym *symbols;
	size_t symbol_count;
	char *texts; /* ends with a NUL */
	size_t text_bytes;
	struct elf_imports imports;
};

/* One byte more than it has, which is 0. */
static int read_section(const struct reading *reading, size_t index, void **ret)
{
	const Elf64_Shdr *section = &reading->sections[index];
	_cleanup_free_ void *bytes = NULL;
	int r;

	if (section->sh_type == SHT_NOBITS || section->sh_size > TABLE_MAX_BYTES)
		return -EBADMSG;
	bytes = xcalloc(section->sh_size + 1, 1);
	r = io_read_at(reading->fd, bytes, section->sh_size, section->sh_offset);
	if (r < 0)
		return r;
	*ret = bytes;
	bytes = NULL;
	return 0;
}

static int read_symbols(struct reading *reading, size_t table)
{
	size_t texts = reading->sections[table].sh_link;
	void *bytes = NULL;
	int r;

	if (reading->symbols && reading->table == table)
		return 0;
	if (texts >= reading->section_count)
		return -EBADMSG;
	r = read_section(reading, table, &bytes);
	if (r < 0)
		return r;
	free(reading->symbols);
	reading->symbols = bytes;
	reading->symbol_count = reading->sections[table].sh_size / sizeof(Elf64_Sym);
	reading->table = table;
	free(reading->texts);
	reading->texts = NULL;
	r = read_section(reading, texts, &bytes);
	if (r < 0)
		return r;
	reading->texts = bytes;
	reading->text_bytes = reading->sections[texts].sh_size;
	return 0;
}

/* Returns name_count if it is none of them. */
static size_t find_name(const struct reading *reading, uint64_t symbol)
{
	const char *text;
	size_t i = 0;

	if (!reading->names || symbol >= reading->symbol_count ||
	    reading->symbols[symbol].st_name >= reading->text_bytes)
		return reading->name_count;
	text = reading->texts + reading->symbols[symbol].st_name;
	while (i < reading->name_count && strcmp(text, reading->names[i]) != 0)
		i++;
	return i;
}

static int add_places(struct reading *reading, const Elf64_Rela *places, size_t count)
{
	struct elf_imports *imports = &reading->imports;

	for (size_t i = 0; i < count; i++) {
		uint64_t type = ELF64_R_TYPE(places[i].r_info);
		size_t name;

		if ((type != FOR_CALLS && type != FOR_ALL && type != IN_DATA) ||
		    places[i].r_addend != 0)
			continue;
		name = find_name(reading, ELF64_R_SYM(places[i].r_info));
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
			.is_weak = ELF64_ST_BIND(
					   reading->symbols[ELF64_R_SYM(places[i].r_info)]
						   .st_info) == STB_WEAK,
		};
	}
	return 0;
}

static int read_places(struct reading *reading, size_t index)
{
	const Elf64_Shdr *section = &reading->sections[index];
	_cleanup_free_ void *places = NULL;
	int r;

	if (section->sh_type != SHT_RELA || section->sh_link >= reading->section_count ||
	    reading->sections[section->sh_link].sh_type != SHT_DYNSYM)
		return 0;
	r = read_symbols(reading, section->sh_link);
	if (r == 0)
		r = read_section(reading, index, &places);
	if (r == 0)
		r = add_places(reading, places, section->sh_size / sizeof(Elf64_Rela));
	return r;
}

static int read_file(struct reading *reading)
{
	Elf64_Ehdr header;
	int r;

	r = io_read_at(reading->fd, &header, sizeof(header), 0);
	if (r == -EBADMSG || (r == 0 && memcmp(header.e_ident, ELFMAG, SELFMAG) != 0))
		return -ENOEXEC;
	if (r < 0)
		return r;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE)
		return -ENOEXEC;
	if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	reading->section_count = header.e_shnum;
	reading->sections =
		xcalloc(reading->section_count + 1, sizeof(*reading->sections));
	r = io_read_at(reading->fd, reading->sections,
		       reading->section_count * sizeof(*reading->sections),
		       header.e_shoff);
	for (size_t i = 0; r == 0 && i < reading->section_count; i++)
		r = read_places(reading, i);
	return r;
}

int elf_frame_tables_find(int fd, uint64_t *ret_vaddr)
{
	Elf64_Ehdr header;
	int r;

	r = io_read_at(fd, &header, sizeof(header), 0);
	if (r == -EBADMSG || (r == 0 && memcmp(header.e_ident, ELFMAG, SELFMAG) != 0))
		return -ENOEXEC;
	for (size_t i = 0; r == 0 && i < header.e_phnum; i++) {
		Elf64_Phdr part;

		r = io_read_at(fd, &part, sizeof(part),
			       header.e_phoff + i * sizeof(part));
		if (r == 0 && part.p_type == PT_GNU_EH_FRAME) {
			*ret_vaddr = part.p_vaddr;
			return 0;
		}
	}
	return r < 0 ? r : -ENODATA;
}

int elf_imports_read(int fd, const char *const *names, size_t name_count,
		     struct elf_imports *ret)
{
	struct reading reading = { .fd = fd, .names = names, .name_count = name_count };
	int r = read_file(&reading);

	free(reading.sections);
	free(reading.symbols);
	free(reading.texts);
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
