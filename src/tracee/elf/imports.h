/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imports - find the slots of an ELF file in which the dynamic linker stores the
 * addresses of functions, by function name. The file may be malicious, so its contents
 * are checked. Needs no libelf.
 */
#ifndef MS_TRACEE_ELF_IMPORTS_H
#define MS_TRACEE_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_import {
	uint64_t vaddr; /* address of the slot in the file, before relocation */
	/* index of the function in the names passed to elf_imports_read() */
	size_t name;
	/*
	 * True if the program uses the slot only for calls. Otherwise it may also read
	 * the address from the slot.
	 */
	bool is_for_calls;
	/*
	 * true if the slot is a variable or constant that is initialized with the address
	 */
	bool is_variable;
	/* true if the import is weak: the file can then be loaded without the function */
	bool is_weak;
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
 * Find the slots of an open file for the functions in `names`. Return 0; -ENOEXEC if the
 * file is not a 64-bit ELF file for this machine; -EBADMSG; or another -errno. A file
 * without relocation tables has no slots.
 */
int elf_imports_read(int fd, const char *const *names, size_t name_count,
		     struct elf_imports *ret);
void elf_imports_release(struct elf_imports *imports);

#endif
