/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imports - find the slots of an ELF file in which the dynamic linker stores the
 * addresses of functions, by function name.
 *
 * The file is foreign: its contents are checked. Needs no libelf.
 */
#ifndef MS_TRACEE_ELF_IMPORTS_H
#define MS_TRACEE_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_import {
	uint64_t vaddr; /* of the slot in the file, before relocation */
	size_t name;	/* index in the names passed to elf_imports_read() */
	/* true: used only for calls; false: the program may also read the address */
	bool is_for_calls;
	bool is_variable; /* the slot is an initialized variable or constant */
	bool is_weak;	  /* the file also works without the function */
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
 * Read the slots of these names from an open file. Return 0; -ENOEXEC if it is not a
 * 64-bit ELF file for this machine; -EBADMSG; or another -errno. A file without
 * relocation tables has no slots.
 */
int elf_imports_read(int fd, const char *const *names, size_t name_count,
		     struct elf_imports *ret);
void elf_imports_release(struct elf_imports *imports);

#endif
