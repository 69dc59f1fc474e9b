/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exports - what an ELF file offers to others by name: the symbols that the dynamic
 * linker sees.
 *
 * All names of an address, and nothing from a debug file, unlike elf_symbols; needs no
 * libelf. The file is foreign: what it says is checked.
 */
#ifndef MS_TRACEE_ELF_EXPORTS_H
#define MS_TRACEE_ELF_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

/* Addresses are the file's own, before it is moved to where it is loaded. */
struct elf_export {
	uint64_t vaddr, bytes;
	const char *name;
	bool is_function;
};

struct elf_part {
	uint64_t vaddr, offset_bytes, file_bytes;
	bool is_code;
};

#define ELF_PARTS_MAX 32

struct elf_exports {
	struct elf_export *items;
	size_t count;
	struct elf_part parts[ELF_PARTS_MAX]; /* that are loaded, in the file's order */
	size_t part_count;
	char *names;
};

#define ELF_EXPORTS_INIT                                 \
	{                                                \
		NULL, 0, { { 0, 0, 0, false } }, 0, NULL \
	}

/*
 * Read them from an open file. Returns 0; -ENOEXEC if it is no ELF file of this machine
 * and 64 bits; -ENODATA if it is one without a table; -EBADMSG; -errno.
 */
int elf_exports_read(int fd, struct elf_exports *ret);

/*
 * The same of the table that a program has for debuggers, without what is static in a source
 * file: for a static program, which offers nothing to others. -ENODATA if it was stripped.
 */
int elf_exports_read_program(int fd, struct elf_exports *ret);

/* The same, with the symbols that are static in a source file. */
int elf_exports_read_all(int fd, struct elf_exports *ret);
void elf_exports_release(struct elf_exports *exports);

/* The one of that name, or NULL. */
const struct elf_export *elf_exports_find(const struct elf_exports *exports,
					  const char *name);

/*
 * Find the offset in the file of the byte that is loaded at vaddr, before relocation.
 * Return false if there is none.
 */
bool elf_exports_offset(const struct elf_exports *exports, uint64_t vaddr,
			uint64_t *ret_bytes);

/*
 * What is added to the file's own addresses where the first mapping of it is m. False if no
 * part of it is loaded from there.
 */
bool elf_exports_base(const struct elf_exports *exports, const struct mapping *m,
		      uint64_t *ret);

#endif
