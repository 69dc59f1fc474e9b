/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - find the symbols of an ELF file, or of its debug file, by address. This
 * module uses libelf instead of elf_reader, because debug files may have larger tables
 * than elf_reader accepts, and more sections than the count in the ELF header allows.
 * libelf is loaded when the first file is read.
 *
 * The file may be malicious: its tables are checked against the file, and ignored if they
 * are larger than those of any real program.
 */
#ifndef MS_TRACEE_ELF_SYMBOLS_H
#define MS_TRACEE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol. vaddr is its address in the file, before relocation. */
struct elf_symbol {
	uint64_t vaddr;
	uint64_t bytes;
	const char *name;
	/*
	 * if several symbols have the same address, the one with the highest rank is kept
	 */
	uint8_t rank;
	bool is_object;
};

struct elf_segment {
	uint64_t vaddr, offset_bytes, file_bytes, memory_bytes;
};

struct elf_file; /* libelf's handle of the file; owns the names of the symbols */

struct elf_symbols {
	struct elf_symbol *items; /* symbols sorted by vaddr, at most one per address */
	size_t count, capacity;
	struct elf_segment *segments; /* loaded segments, in file order */
	size_t segment_count;
	struct elf_file *file, *debug_file;
	/* total size of the tables read from the file and its debug file */
	uint64_t read_bytes;
};

#define ELF_SYMBOLS_INIT                           \
	{                                          \
		NULL, 0, 0, NULL, 0, NULL, NULL, 0 \
	}

/*
 * Load libelf. Return true if memstate was built with libelf and the library is
 * installed.
 */
bool elf_symbols_can_be_read(void);

/*
 * Read the symbols from an open file, and take ownership of fd, even on failure. If the
 * file has no full symbol table, search for its debug file, first below root_fd, the
 * process's root directory (or -1), and then below memstate's own root. Return 0,
 * -EBADMSG if the file is not a 64-bit ELF file, -EOPNOTSUPP without libelf, or another
 * -errno.
 */
int elf_symbols_read(int fd, int root_fd, struct elf_symbols *ret);
void elf_symbols_release(struct elf_symbols *symbols);

/* Return the symbol that contains vaddr, or NULL. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols,
					  uint64_t vaddr);

#endif
