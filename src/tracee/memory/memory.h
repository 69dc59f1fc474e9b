/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory - single words of a process, read after it was let go. For what does not change
 * once a program runs: tables that the linker made, texts in its files.
 *
 * It is the address space that the process had when this was opened: after an execve(2),
 * or with the process gone and its number another's, nothing is read. No page is brought
 * in: what is not there is read from the file it would come from.
 */
#ifndef MS_TRACEE_MEMORY_MEMORY_H
#define MS_TRACEE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

struct memory {
	int process_fd; /* its directory in /proc, its mem and its pagemap: the caller's */
	int mem_fd;
	int pagemap_fd;
	const struct mapping_list *mappings; /* borrowed */
	size_t found;			     /* the mapping that was found last */
	/* the file that was read last */
	size_t file_mapping;
	int file_fd;
};

#define MEMORY_INIT                        \
	{                                  \
		-1, -1, -1, NULL, 0, 0, -1 \
	}

/* Closes the file that was read last, and nothing else. */
void memory_release(struct memory *memory);

/* The mapping that addr is in, or NULL. Borrowed from the list. */
const struct mapping *memory_find_mapping(struct memory *memory, uint64_t addr);

/* Read [addr, addr + length). False if not all of it can be had without bringing pages in. */
bool memory_read(struct memory *memory, uint64_t addr, void *to, size_t length);

/*
 * Read a text of 1 to size - 1 bytes up to its NUL. False if it is longer, or not there.
 */
bool memory_read_text(struct memory *memory, uint64_t addr, char *to, size_t size);

#endif
