/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imports - the places of an ELF file in which the dynamic linker puts the addresses
 * of functions, by the functions' names.
 *
 * The file is foreign: what it says is checked. Needs no libelf.
 */
#ifndef MS_TRACEE_ELF_IMPORTS_H
#define MS_TRACEE_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_import {
	uint64_t
		vaddr; /* of the place: the file's own, before it is moved to where it is loaded */
	size_t name; /* which of the names that were asked for */
	/* only calls go through it; else its address may be taken, too */
	bool is_for_calls;
	bool is_variable; /* a variable or constant of the file, initialized with the address */
	bool is_weak; /* the file does without it */
};

struct elf_imports {
	struct elf_import *items;
	size_t count, capacity;
};

#define ELF_IMPORTS_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Read the places of these names from an open file. Returns 0; -ENOEXEC if it is no ELF
 * file of this machine and 64 bits; -EBADMSG; -errno. A file without a table has none.
 */
int elf_imports_read(int fd, const char *const *names, size_t name_count,
		     struct elf_imports *ret);
void elf_imports_release(struct elf_imports *imports);

#endif
