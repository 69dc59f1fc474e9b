/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - the symbols of one ELF file, or of its debug file, by address.
 *
 * Uses libelf instead of elf_reader: a debug file may have more sections than the ELF
 * header can count, which libelf supports, and larger tables than the reader accepts.
 * libelf is loaded when the first file is read.
 *
 * The file is foreign: its tables are checked against the file, and ignored if they are
 * larger than those of any real program.
 */
#ifndef MS_TRACEE_ELF_SYMBOLS_H
#define MS_TRACEE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses are the file's own, before it is moved to where it is loaded. */
struct elf_symbol {
	uint64_t vaddr;
	uint64_t bytes;
	const char *name;
	uint8_t rank; /* of those at one address the highest is kept */
	bool is_object;
};

struct elf_segment {
	uint64_t vaddr, offset_bytes, file_bytes, memory_bytes;
};

struct elf_file; /* libelf's, with the names in it */

struct elf_symbols {
	struct elf_symbol *items; /* by vaddr, one at each */
	size_t count, capacity;
	struct elf_segment *segments; /* that are loaded, in the file's order */
	size_t segment_count;
	struct elf_file *file, *debug_file;
	uint64_t read_bytes; /* of the tables of both */
};

/* What tells one build of a program from another. */
#define ELF_BUILD_ID_MAX 64

struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t length; /* 0: none */
};

#define ELF_SYMBOLS_INIT                           \
	{                                          \
		NULL, 0, 0, NULL, 0, NULL, NULL, 0 \
	}

/* libelf is there, and this was built with it. Loads it. */
bool elf_symbols_can_be_read(void);

/*
 * The build-id of an open file, which stays open; its length is 0 if it has none. Returns
 * 0, -EBADMSG or -EOPNOTSUPP, as elf_symbols_read().
 */
int elf_build_id_read(int fd, struct elf_build_id *ret);

/*
 * Open the debug file that has this build-id, if it is installed and is what its name
 * says. root_fd as below. Returns a descriptor or -ENOENT.
 */
int elf_debug_open(int root_fd, const struct elf_build_id *id);

/*
 * Read them from an open file, which is closed in any case. root_fd: the process's root,
 * or -1, searched for a debug file before our own. Returns 0, -EBADMSG if it is no ELF
 * file of 64 bits, -EOPNOTSUPP without libelf, or -errno.
 */
int elf_symbols_read(int fd, int root_fd, struct elf_symbols *ret);
void elf_symbols_release(struct elf_symbols *symbols);

/* The symbol that vaddr is in, or NULL. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols,
					  uint64_t vaddr);

#endif
