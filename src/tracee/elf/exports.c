/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/exports.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"

/*
 * More than the tables of any library that was seen; a file can claim more than there is
 * memory.
 */
#define TABLE_MAX_BYTES (UINT64_C(64) << 20)

#if defined(__x86_64__)
#	define MACHINE EM_X86_64
#elif defined(__aarch64__)
#	define MACHINE EM_AARCH64
#else
#	define MACHINE EM_NONE
#endif

static int read_parts(int fd, const Elf64_Ehdr *header, struct elf_exports *exports)
{
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr part;
		int r;

		r = io_read_at(fd, &part, sizeof(part),
			       header->e_phoff + i * sizeof(part));
		if (r < 0)
			return r;
		if (part.p_type != PT_LOAD)
			continue;
		if (exports->part_count == ELF_PARTS_MAX)
			return -EBADMSG;
		exports->parts[exports->part_count++] =
			(struct elf_part){ part.p_vaddr, part.p_offset, part.p_filesz,
					   part.p_flags & PF_X };
	}
	return exports->part_count > 0 ? 0 : -EBADMSG;
}

static int find_table(int fd, const Elf64_Ehdr *header, unsigned int type,
		      Elf64_Shdr *ret_table, Elf64_Shdr *ret_names)
{
	_cleanup_free_ Elf64_Shdr *sections = NULL;
	int r;

	if (header->e_shoff == 0 || header->e_shnum == 0 ||
	    header->e_shentsize != sizeof(*sections))
		return -ENODATA;
	sections = xcalloc(header->e_shnum, sizeof(*sections));
	r = io_read_at(fd, sections, header->e_shnum * sizeof(*sections),
		       header->e_shoff);
	for (size_t i = 0; r == 0 && i < header->e_shnum; i++) {
		if (sections[i].sh_type != type)
			continue;
		if (sections[i].sh_link >= header->e_shnum ||
		    sections[i].sh_size > TABLE_MAX_BYTES ||
		    sections[sections[i].sh_link].sh_size > TABLE_MAX_BYTES)
			return -EBADMSG;
		*ret_table = sections[i];
		*ret_names = sections[sections[i].sh_link];
		return 0;
	}
	return r < 0 ? r : -ENODATA;
}

enum table {
	TABLE_DYNAMIC,
	TABLE_PROGRAM,
	TABLE_ALL
};

static bool is_wanted(const Elf64_Sym *symbol, uint64_t name_bytes, enum table which)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_value != 0 && symbol->st_name != 0 &&
	       symbol->st_name < name_bytes && type != STT_TLS && type != STT_GNU_IFUNC &&
	       (which == TABLE_ALL || ELF64_ST_BIND(symbol->st_info) != STB_LOCAL);
}

static int read_table(int fd, const Elf64_Ehdr *header, enum table which,
		      struct elf_exports *exports)
{
	_cleanup_free_ Elf64_Sym *symbols = NULL;
	Elf64_Shdr table, names;
	size_t count;
	int r;

	r = find_table(fd, header, which == TABLE_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB,
		       &table, &names);
	if (r < 0)
		return r;
	count = table.sh_size / sizeof(*symbols);
	symbols = xcalloc(count + 1, sizeof(*symbols));
	exports->names = xcalloc(names.sh_size + 1, 1);
	r = io_read_at(fd, symbols, count * sizeof(*symbols), table.sh_offset);
	if (r == 0)
		r = io_read_at(fd, exports->names, names.sh_size, names.sh_offset);
	if (r < 0)
		return r;
	exports->items = xcalloc(count + 1, sizeof(*exports->items));
	for (size_t i = 0; i < count; i++)
		if (is_wanted(&symbols[i], names.sh_size, which))
			exports->items[exports->count++] = (struct elf_export){
				.vaddr = symbols[i].st_value,
				.bytes = symbols[i].st_size,
				.name = exports->names + symbols[i].st_name,
				.is_function = ELF64_ST_TYPE(symbols[i].st_info) ==
					       STT_FUNC,
			};
	return 0;
}

static int read_exports(int fd, enum table which, struct elf_exports *ret)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	Elf64_Ehdr header;
	int r;

	r = io_read_at(fd, &header, sizeof(header), 0);
	if (r == -EBADMSG || (r == 0 && memcmp(header.e_ident, ELFMAG, SELFMAG) != 0))
		return -ENOEXEC;
	if (r < 0)
		return r;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	r = read_parts(fd, &header, &exports);
	if (r == 0)
		r = read_table(fd, &header, which, &exports);
	if (r < 0) {
		elf_exports_release(&exports);
		return r;
	}
	*ret = exports;
	return 0;
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

	/* the page that a part begins in is mapped from its start */
	for (size_t i = 0; i < exports->part_count; i++) {
		const struct elf_part *part = &exports->parts[i];

		if (part->offset_bytes / page_bytes * page_bytes != m->file_offset_bytes)
			continue;
		*ret = m->start_addr - part->vaddr / page_bytes * page_bytes;
		return true;
	}
	return false;
}
