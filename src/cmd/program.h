/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program - what file a command is, and whether a library can be preloaded into it.
 */
#ifndef MS_CMD_PROGRAM_H
#define MS_CMD_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* What machine code is in a file: a library must have the same as the program. */
struct machine {
	uint8_t elf_class; /* ELFCLASS32, ELFCLASS64 */
	uint8_t byte_order;
	uint16_t number;   /* EM_X86_64 … */
};

static inline bool machine_is_same(const struct machine *a, const struct machine *b)
{
	return a->elf_class == b->elf_class && a->byte_order == b->byte_order &&
	       a->number == b->number;
}

/* "32-bit" or "64-bit". */
const char *machine_bits(const struct machine *machine);

/* Returns 0, -errno, or -ENOEXEC: no ELF file. */
int machine_read(const char *path, struct machine *ret);

/* Whether a 64-bit ELF file defines a symbol for others to use. */
bool machine_exports(const char *path, const char *symbol);

/*
 * The file that execvp(3) would run, and the interpreters that it names, if it is a
 * script. Returns 0, with the machine that a preloaded library has to be for; or, after
 * the message has been given, -errno: it cannot be found, or nothing can be preloaded
 * into it, because it is linked statically or with musl, gains rights when it is started,
 * or has a malloc of its own.
 */
int program_check(const char *name, struct machine *ret);

/*
 * Whether the file that execvp(3) would run is a Go program. *ret_static: nothing can be
 * preloaded into it. Scripts and files that cannot be read are not.
 */
bool program_is_go(const char *name, bool *ret_static);

/*
 * The name of an entry point beside malloc, such as mallocx, that the same file needs or
 * defines, or NULL. Static.
 */
const char *program_find_entry_point(const char *name);

#endif
