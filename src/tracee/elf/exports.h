/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exports - read the symbols that an ELF file exports to the dynamic linker. Unlike
 * elf_symbols, this module returns all names of an address, reads no debug files, and
 * needs no libelf. The file may be malicious, so its contents are checked.
 */
#ifndef MS_TRACEE_ELF_EXPORTS_H
#define MS_TRACEE_ELF_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/*
 * A symbol that an ELF file exports. vaddr is its address in the file, before relocation.
 */
struct elf_export {
	uint64_t vaddr, bytes;
	const char *name;
	bool is_function;
};

struct elf_part {
	uint64_t vaddr, offset_bytes, file_bytes;
	bool is_code, is_writable;
};

#define ELF_PARTS_MAX 32

struct elf_exports {
	struct elf_export *items;
	size_t count;
	struct elf_part parts[ELF_PARTS_MAX]; /* loaded segments, in file order */
	size_t part_count;
	char *names;
};

#define ELF_EXPORTS_INIT                                        \
	{                                                       \
		NULL, 0, { { 0, 0, 0, false, false } }, 0, NULL \
	}

/*
 * Read the exported symbols from an open file. Return 0; -ENOEXEC if the file is not a
 * 64-bit ELF file for this machine; -ENODATA if the file has no dynamic symbol table;
 * -EBADMSG; or another -errno.
 */
int elf_exports_read(int fd, struct elf_exports *ret);

/*
 * Read the global symbols of an open file from the symbol table for debuggers (.symtab).
 * Use this function for a static program, which exports nothing. Return the same values
 * as elf_exports_read(), but -ENODATA if the program is stripped.
 */
int elf_exports_read_program(int fd, struct elf_exports *ret);

/*
 * Like elf_exports_read_program(), but also read local symbols, such as static functions.
 */
int elf_exports_read_all(int fd, struct elf_exports *ret);
void elf_exports_release(struct elf_exports *exports);

/* Return the exported symbol with this name, or NULL. */
const struct elf_export *elf_exports_find(const struct elf_exports *exports,
					  const char *name);

/*
 * Find the file offset of the byte that is loaded at vaddr, an address before relocation.
 * Return false if the byte does not come from the file.
 */
bool elf_exports_offset(const struct elf_exports *exports, uint64_t vaddr,
			uint64_t *ret_bytes);

/*
 * Find the difference between addresses in memory and addresses in the file. m is the
 * file's first mapping. Return false if m does not map any loaded segment of the file.
 */
bool elf_exports_base(const struct elf_exports *exports, const struct mapping *m,
		      uint64_t *ret);

#endif
