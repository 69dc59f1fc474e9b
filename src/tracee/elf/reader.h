/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - the tables of an ELF file: header, segments, sections and symbols.
 *
 * All code that looks into ELF files uses this reader, except elf_symbols and
 * dwarf_frames, which use libelf and libdw, and the code that runs in other processes.
 *
 * The file is foreign: offsets, sizes and links are checked, and the reader stops after
 * ELF_READ_MAX_BYTES. The file is read instead of mapped, because accessing a mapping
 * beyond the end of a file that somebody has truncated kills the reader with SIGBUS.
 */
#ifndef MS_TRACEE_ELF_READER_H
#define MS_TRACEE_ELF_READER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits for one section, and for all reads of one reader. Real libraries need less. */
#define ELF_SECTION_MAX_BYTES (UINT64_C(64) << 20)
#define ELF_READ_MAX_BYTES (UINT64_C(256) << 20)

struct elf_reader {
	int fd; /* the caller's */
	/* A 32-bit file's headers are converted. Raw if the byte order is not ours. */
	Elf64_Ehdr header;
	Elf64_Phdr *segments; /* header.e_phnum; NULL until they are read */
	Elf64_Shdr *sections; /* header.e_shnum; NULL until they are read */
	uint64_t read_bytes;
};

#define _cleanup_elf_reader_ __attribute__((cleanup(elf_reader_release)))

/*
 * Read the header of an open file, for any machine. *ret is empty if that fails. Returns
 * 0, -ENOEXEC if it is not an ELF file, or -errno.
 */
int elf_reader_open(int fd, struct elf_reader *ret);

/* Like elf_reader_open(); -ENOEXEC also if it is not a 64-bit file for this machine. */
int elf_reader_open_native(int fd, struct elf_reader *ret);
void elf_reader_release(struct elf_reader *reader);

/* Return true if the open file is a 64-bit ELF file for this machine. */
bool elf_is_native(int fd);

/* Return 0, -ENOEXEC if the headers have a different format, -EBADMSG or -errno. */
int elf_reader_read_segments(struct elf_reader *reader);

/* Return 0; -ENODATA for a 32-bit file or without sections; -EBADMSG; -errno. */
int elf_reader_read_sections(struct elf_reader *reader);

/*
 * Find the first section of a type, such as SHT_DYNSYM; reads the section headers if
 * necessary. Returns its index, or -ENODATA, -EBADMSG or -errno.
 */
int elf_reader_find_section(struct elf_reader *reader, unsigned int type);

/*
 * Read a section's contents, followed by a NUL. The caller frees *ret. Returns 0,
 * -EBADMSG if there is no such section in the file or a limit is exceeded, or -errno.
 */
int elf_reader_read_section(struct elf_reader *reader, size_t index, void **ret);

struct elf_symbol_table {
	Elf64_Sym *items;
	size_t count;
	char *names; /* ends with a NUL */
	size_t names_bytes;
};

#define _cleanup_elf_symbol_table_ __attribute__((cleanup(elf_symbol_table_release)))

/* Read a symbol table and the names it refers to. Returns like the function above. */
int elf_reader_read_symbols(struct elf_reader *reader, size_t index,
			    struct elf_symbol_table *ret);
void elf_symbol_table_release(struct elf_symbol_table *table);

/* Return the symbol's name, or NULL if it lies outside the names. */
const char *elf_symbol_table_name(const struct elf_symbol_table *table,
				  const Elf64_Sym *symbol);

/*
 * Find the address of .eh_frame_hdr, the index of the file's unwind tables, before the
 * file is relocated. Returns 0; -ENODATA if there is none; -ENOEXEC, -EBADMSG, -errno.
 */
int elf_frame_tables_find(int fd, uint64_t *ret_vaddr);

#endif
