/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/reader.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"

#if defined(__x86_64__)
#	define MACHINE EM_X86_64
#elif defined(__aarch64__)
#	define MACHINE EM_AARCH64
#else
#	define MACHINE EM_NONE
#endif

#if __BYTE_ORDER == __LITTLE_ENDIAN
#	define OWN_BYTE_ORDER ELFDATA2LSB
#else
#	define OWN_BYTE_ORDER ELFDATA2MSB
#endif

static Elf64_Ehdr widen_header(const Elf32_Ehdr *header)
{
	Elf64_Ehdr wide = {
		.e_type = header->e_type,
		.e_machine = header->e_machine,
		.e_phoff = header->e_phoff,
		.e_shoff = header->e_shoff,
		.e_phentsize = header->e_phentsize,
		.e_phnum = header->e_phnum,
		.e_shentsize = header->e_shentsize,
		.e_shnum = header->e_shnum,
		.e_shstrndx = header->e_shstrndx,
	};

	memcpy(wide.e_ident, header->e_ident, sizeof(wide.e_ident));
	return wide;
}

static Elf64_Phdr widen_segment(const Elf32_Phdr *segment)
{
	return (Elf64_Phdr){
		.p_type = segment->p_type,
		.p_flags = segment->p_flags,
		.p_offset = segment->p_offset,
		.p_vaddr = segment->p_vaddr,
		.p_filesz = segment->p_filesz,
		.p_memsz = segment->p_memsz,
	};
}

static bool is_32_bit(const struct elf_reader *reader)
{
	return reader->header.e_ident[EI_CLASS] == ELFCLASS32;
}

static bool has_own_byte_order(const struct elf_reader *reader)
{
	return reader->header.e_ident[EI_DATA] == OWN_BYTE_ORDER;
}

static bool is_native(const struct elf_reader *reader)
{
	return reader->header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       has_own_byte_order(reader) && reader->header.e_machine == MACHINE;
}

int elf_reader_open(int fd, struct elf_reader *ret)
{
	struct elf_reader reader = { .fd = fd };
	Elf32_Ehdr narrow;
	int r = io_read_at(fd, &narrow, sizeof(narrow), 0);

	*ret = (struct elf_reader){ .fd = -1 };
	if (r == 0 && memcmp(narrow.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (r == 0 && narrow.e_ident[EI_CLASS] == ELFCLASS32)
		reader.header = widen_header(&narrow);
	else if (r == 0)
		r = io_read_at(fd, &reader.header, sizeof(reader.header), 0);
	if (r < 0)
		return r == -EBADMSG || r == -EISDIR ? -ENOEXEC : r;
	*ret = reader;
	return 0;
}

int elf_reader_open_native(int fd, struct elf_reader *ret)
{
	int r = elf_reader_open(fd, ret);

	return r == 0 && !is_native(ret) ? -ENOEXEC : r;
}

void elf_reader_release(struct elf_reader *reader)
{
	free(reader->segments);
	free(reader->sections);
	*reader = (struct elf_reader){ .fd = -1 };
}

bool elf_is_native(int fd)
{
	_cleanup_elf_reader_ struct elf_reader reader;

	return elf_reader_open_native(fd, &reader) == 0;
}

/* Read `length` bytes of the file and append a NUL. The caller frees *ret. */
static int read_bytes(struct elf_reader *reader, uint64_t offset_bytes, uint64_t length,
		      void **ret)
{
	_cleanup_free_ char *bytes = NULL;
	int r;

	if (length > ELF_SECTION_MAX_BYTES ||
	    length > ELF_READ_MAX_BYTES - reader->read_bytes)
		return -EBADMSG;
	reader->read_bytes += length;
	bytes = xcalloc(length + 1, 1);
	r = io_read_at(reader->fd, bytes, length, offset_bytes);
	if (r < 0)
		return r;
	*ret = bytes;
	bytes = NULL;
	return 0;
}

int elf_reader_read_segments(struct elf_reader *reader)
{
	const size_t size = is_32_bit(reader) ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	const size_t count = reader->header.e_phnum;
	void *bytes;
	int r;

	if (reader->segments)
		return 0;
	if (!has_own_byte_order(reader) || reader->header.e_phentsize != size)
		return -ENOEXEC;
	r = read_bytes(reader, reader->header.e_phoff, count * size, &bytes);
	if (r < 0)
		return r;
	if (is_32_bit(reader)) {
		const Elf32_Phdr *narrow = bytes;

		reader->segments = xcalloc(count + 1, sizeof(*reader->segments));
		for (size_t i = 0; i < count; i++)
			reader->segments[i] = widen_segment(&narrow[i]);
		free(bytes);
	} else {
		reader->segments = bytes;
	}
	return 0;
}

int elf_reader_read_sections(struct elf_reader *reader)
{
	const Elf64_Ehdr *header = &reader->header;
	void *bytes;
	int r;

	if (reader->sections)
		return 0;
	if (is_32_bit(reader) || !has_own_byte_order(reader) || header->e_shoff == 0 ||
	    header->e_shnum == 0 || header->e_shentsize != sizeof(Elf64_Shdr))
		return -ENODATA;
	r = read_bytes(reader, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr),
		       &bytes);
	if (r == 0)
		reader->sections = bytes;
	return r;
}

int elf_reader_find_section(struct elf_reader *reader, unsigned int type)
{
	int r = elf_reader_read_sections(reader);

	for (int i = 0; r == 0 && i < reader->header.e_shnum; i++)
		if (reader->sections[i].sh_type == type)
			return i;
	return r < 0 ? r : -ENODATA;
}

int elf_reader_read_section(struct elf_reader *reader, size_t index, void **ret)
{
	const Elf64_Shdr *section;

	if (!reader->sections || index >= reader->header.e_shnum)
		return -EBADMSG;
	section = &reader->sections[index];
	if (section->sh_type == SHT_NOBITS)
		return -EBADMSG;
	return read_bytes(reader, section->sh_offset, section->sh_size, ret);
}

int elf_reader_read_symbols(struct elf_reader *reader, size_t index,
			    struct elf_symbol_table *ret)
{
	const Elf64_Shdr *section;
	void *items, *names;
	int r = elf_reader_read_section(reader, index, &items);

	if (r < 0)
		return r;
	section = &reader->sections[index];
	r = elf_reader_read_section(reader, section->sh_link, &names);
	if (r < 0) {
		free(items);
		return r;
	}
	*ret = (struct elf_symbol_table){
		.items = items,
		.count = section->sh_size / sizeof(*ret->items),
		.names = names,
		.names_bytes = reader->sections[section->sh_link].sh_size,
	};
	return 0;
}

void elf_symbol_table_release(struct elf_symbol_table *table)
{
	free(table->items);
	free(table->names);
	*table = (struct elf_symbol_table){ .items = NULL };
}

const char *elf_symbol_table_name(const struct elf_symbol_table *table,
				  const Elf64_Sym *symbol)
{
	return symbol->st_name < table->names_bytes ? table->names + symbol->st_name
						    : NULL;
}

int elf_frame_tables_find(int fd, uint64_t *ret_vaddr)
{
	_cleanup_elf_reader_ struct elf_reader reader;
	int r = elf_reader_open_native(fd, &reader);

	if (r == 0)
		r = elf_reader_read_segments(&reader);
	for (size_t i = 0; r == 0 && i < reader.header.e_phnum; i++)
		if (reader.segments[i].p_type == PT_GNU_EH_FRAME) {
			*ret_vaddr = reader.segments[i].p_vaddr;
			return 0;
		}
	return r < 0 ? r : -ENODATA;
}
