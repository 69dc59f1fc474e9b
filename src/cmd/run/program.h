/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - find the file that a command executes, and check whether a library can be
 * preloaded into it.
 */
#ifndef MS_CMD_RUN_PROGRAM_H
#define MS_CMD_RUN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kind of machine code in a file. A preloaded library must have the same kind of code
 * as the program.
 */
struct machine {
	uint8_t elf_class; /* class of the ELF file: ELFCLASS32 or ELFCLASS64 */
	uint8_t byte_order;
	/* machine number of the ELF file: EM_X86_64 or another EM_ constant */
	uint16_t number;
};

static inline bool machine_is_same(const struct machine *a, const struct machine *b)
{
	return a->elf_class == b->elf_class && a->byte_order == b->byte_order &&
	       a->number == b->number;
}

/* Return "32-bit" or "64-bit". */
const char *machine_bits(const struct machine *machine);

/*
 * Read the kind of machine code in an ELF file. Return 0, -ENOEXEC if the file is not an
 * ELF file, or another -errno.
 */
int machine_read(const char *path, struct machine *ret);

/* Return true if a 64-bit ELF file exports the symbol. */
bool machine_exports(const char *path, const char *symbol);

/*
 * Check the file that execvp(3) would run. For a script, also check its interpreters.
 * Return 0, with *ret set to the machine type that a preloaded library must have. Print a
 * message and return -errno if the file cannot be found, or if no library can be
 * preloaded into it. Libraries cannot be preloaded into programs that are linked
 * statically or with musl, gain privileges at exec, or have their own malloc.
 */
int program_check(const char *name, struct machine *ret);

/*
 * Return true if the file that execvp(3) would run is a Go program. Return false for
 * scripts and unreadable files. *ret_static is set if no library can be preloaded into
 * the program.
 */
bool program_is_go(const char *name, bool *ret_static);

/*
 * Return the static name of an allocation function other than malloc, such as mallocx,
 * that is linked into the file that execvp(3) would run. Return NULL if not found.
 */
const char *program_find_entry_point(const char *name);

/*
 * Return a static description of the allocator that is linked into the file that
 * execvp(3) would run. Only stripped programs are searched. Return NULL if the program
 * has symbols, or if no allocator is recognised.
 */
const char *program_find_linked_in(const char *name);

/*
 * Find the file that execvp(3) would run, and the file's dynamic loader. The caller frees
 * both paths. Return false if the file is not a dynamically linked program.
 */
bool program_find_loader(const char *name, char **ret_path, char **ret_loader);

#endif
