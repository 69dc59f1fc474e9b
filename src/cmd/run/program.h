/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - find the file that a command executes, and whether a library can be
 * preloaded into it.
 */
#ifndef MS_CMD_RUN_PROGRAM_H
#define MS_CMD_RUN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kind of machine code in a file. A preloaded library must have the same
 * kind as the program.
 */
struct machine {
	uint8_t elf_class; /* ELFCLASS32 or ELFCLASS64 */
	uint8_t byte_order;
	uint16_t number; /* EM_X86_64 … */
};

static inline bool machine_is_same(const struct machine *a, const struct machine *b)
{
	return a->elf_class == b->elf_class && a->byte_order == b->byte_order &&
	       a->number == b->number;
}

/* Return "32-bit" or "64-bit". */
const char *machine_bits(const struct machine *machine);

/*
 * Read the kind of machine code of an ELF file. Returns 0, -errno, or -ENOEXEC if it is
 * not an ELF file.
 */
int machine_read(const char *path, struct machine *ret);

/* Whether a 64-bit ELF file exports the symbol. */
bool machine_exports(const char *path, const char *symbol);

/*
 * Check the file that execvp(3) would run and, for a script, the interpreters that it
 * names. Returns 0, with *ret set to the machine that a preloaded library must be for; or
 * -errno after a message: the file cannot be found, or nothing can be preloaded into it.
 * The reasons for the latter: it is linked statically or with musl, gains privileges at
 * exec, or has its own malloc.
 */
int program_check(const char *name, struct machine *ret);

/*
 * Whether the file that execvp(3) would run is a Go program; false for scripts and
 * unreadable files. *ret_static is set if nothing can be preloaded into the program.
 */
bool program_is_go(const char *name, bool *ret_static);

/*
 * Return the name of an allocation function other than malloc, such as mallocx, that the
 * file execvp(3) would run has linked in; or NULL. The string is static.
 */
const char *program_find_entry_point(const char *name);

/*
 * Describe an allocator that is linked into the stripped file that execvp(3) would run,
 * or return NULL. The string is static.
 */
const char *program_find_linked_in(const char *name);

/*
 * Find the file that execvp(3) would run and its dynamic loader, which the caller frees.
 * Returns false if the file is not a dynamic program.
 */
bool program_find_loader(const char *name, char **ret_path, char **ret_loader);

#endif
