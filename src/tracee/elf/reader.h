/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - read the tables of an ELF file: header, segments, sections and symbols. All
 * code that examines ELF files uses this reader, except elf_symbols and dwarf_frames,
 * which use libelf and libdw, and the code that runs in other processes.
 *
 * The file may be malicious: the reader checks offsets, sizes and links, and stops after
 * ELF_READ_MAX_BYTES. The reader does not map the file, because an access beyond the end
 * of a truncated file would kill memstate with SIGBUS.
 */
#ifndef MS_TRACEE_ELF_READER_H
#define MS_TRACEE_ELF_READER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits on the size of one section, and on the number of bytes that one reader reads.
 * Real libraries stay below these limits.
 */
#define ELF_SECTION_MAX_BYTES (UINT64_C(64) << 20)
#define ELF_READ_MAX_BYTES (UINT64_C(256) << 20)

struct elf_reader {
	int fd; /* descriptor of the file; the caller closes it */
	/*
	 * The header, converted to 64 bits if the file is a 32-bit file. It is not
	 * converted if the file's byte order is not the machine's own.
	 */
	Elf64_Ehdr header;
	/* array of header.e_phnum program headers; NULL before they are read */
	Elf64_Phdr *segments;
	/* array of header.e_shnum section headers; NULL before they are read */
	Elf64_Shdr *sections;
	uint64_t read_bytes;
};

#define _cleanup_elf_reader_ __attribute__((cleanup(elf_reader_release)))

/*
 * Read the header of an open file for any machine. Return 0, -ENOEXEC if the file is not
 * an ELF file, or -errno. *ret is empty on failure.
 */
int elf_reader_open(int fd, struct elf_reader *ret);

/*
 * Like elf_reader_open(), but also return -ENOEXEC if the file is not a 64-bit file for
 * this machine.
 */
int elf_reader_open_native(int fd, struct elf_reader *ret);
void elf_reader_release(struct elf_reader *reader);

/* Return true if the open file is a 64-bit ELF file for this machine. */
bool elf_is_native(int fd);

/*
 * Read the program headers, which describe the segments. Return 0, -ENOEXEC if their
 * format is unknown, -EBADMSG or -errno.
 */
int elf_reader_read_segments(struct elf_reader *reader);

/*
 * Read the section headers. Return 0; -ENODATA for a 32-bit file or a file without
 * sections; -EBADMSG; or -errno.
 */
int elf_reader_read_sections(struct elf_reader *reader);

/*
 * Find the first section with the given type, such as SHT_DYNSYM. The function reads the
 * section headers if necessary. Return the index of the section, or -ENODATA, -EBADMSG
 * or -errno.
 */
int elf_reader_find_section(struct elf_reader *reader, unsigned int type);

/*
 * Read a section's contents and append a NUL. The caller frees *ret. Return 0, -EBADMSG
 * if the file does not contain the section or a limit is exceeded, or -errno.
 */
int elf_reader_read_section(struct elf_reader *reader, size_t index, void **ret);

struct elf_symbol_table {
	Elf64_Sym *items;
	size_t count;
	char *names; /* string table with all names; its last byte is a NUL */
	size_t names_bytes;
};

#define _cleanup_elf_symbol_table_ __attribute__((cleanup(elf_symbol_table_release)))

/*
 * Read a symbol table and its string table. Return the same values
 * as elf_reader_read_section().
 */
int elf_reader_read_symbols(struct elf_reader *reader, size_t index,
			    struct elf_symbol_table *ret);
void elf_symbol_table_release(struct elf_symbol_table *table);

/* Return the symbol's name, or NULL if the offset of the name is invalid. */
const char *elf_symbol_table_name(const struct elf_symbol_table *table,
				  const Elf64_Sym *symbol);

/*
 * Find the address, before relocation, of .eh_frame_hdr, the index of the file's unwind
 * tables. Return 0; -ENODATA if the section does not exist; -ENOEXEC, -EBADMSG or
 * -errno.
 */
int elf_frame_tables_find(int fd, uint64_t *ret_vaddr);

#endif
