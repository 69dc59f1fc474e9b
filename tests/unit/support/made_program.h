/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_program - ELF files in memory with given symbols, loaded parts and packed
 * relocations. Any error fails the test.
 */
#ifndef MS_TESTS_MADE_PROGRAM_H
#define MS_TESTS_MADE_PROGRAM_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_PARTS_MAX 32
#define MADE_SYMBOLS_MAX 4

/* Offset at which the test's own contents begin. */
#define MADE_CONTENTS_OFFSET 65536

struct made_symbol {
	const char *name;
	uint64_t vaddr, bytes;
};

struct made_program {
	uint32_t symbols_type;			      /* SHT_SYMTAB or SHT_DYNSYM */
	struct made_symbol symbols[MADE_SYMBOLS_MAX]; /* all functions */
	Elf64_Phdr parts[MADE_PARTS_MAX];
	size_t part_count;
	const uint64_t *relr; /* or NULL */
	size_t relr_count;
	/* written from MADE_CONTENTS_OFFSET on */
	const void *contents;
	size_t length;
	uint64_t file_bytes; /* size of the sparse file; 0: it ends with the contents */
};

/* Return a loaded part of the file, which has the same offset and address. */
Elf64_Phdr made_program_part(uint64_t offset_bytes, uint64_t length, uint32_t flags);

/* Return a descriptor of a new file. The caller closes it. */
int made_program_open(const struct made_program *program);

/*
 * Return a figure of /proc/self/io: "rchar", bytes read, or "syscr", number of reads.
 * Skip the test if the kernel does not provide it.
 */
uint64_t made_program_io(const char *key);

#endif
