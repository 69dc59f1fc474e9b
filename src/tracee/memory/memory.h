/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory - read single words of a process that is no longer stopped. Use this for data
 * that stays constant while a program runs: the dynamic linker's tables, and strings in
 * mapped files. memstate reads the address space that the process had when mem_fd was
 * opened. After an execve(2), or when the process has ended and its pid has been reused,
 * nothing is read. No page is faulted in: an absent page is read from the mapped file.
 */
#ifndef MS_TRACEE_MEMORY_MEMORY_H
#define MS_TRACEE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

struct memory {
	/*
	 * descriptors, owned by the caller: the process's directory in /proc, its mem and
	 * its pagemap
	 */
	int process_fd;
	int mem_fd;
	int pagemap_fd;
	/* list of the process's mappings; borrowed */
	const struct mapping_list *mappings;
	/* index of the mapping that was looked up last */
	size_t found;
	/*
	 * The mapped file that was read last: the index of its mapping, and
	 * its descriptor or -1.
	 */
	size_t file_mapping;
	int file_fd;
};

#define MEMORY_INIT                        \
	{                                  \
		-1, -1, -1, NULL, 0, 0, -1 \
	}

/* Close the file that was read last. The other descriptors stay open. */
void memory_release(struct memory *memory);

/*
 * Return the mapping that contains addr, or NULL. The mapping is borrowed from the list.
 */
const struct mapping *memory_find_mapping(struct memory *memory, uint64_t addr);

/*
 * Read [addr, addr + length). Return false if part of the range cannot be read without
 * faulting in pages.
 */
bool memory_read(struct memory *memory, uint64_t addr, void *to, size_t length);

/*
 * Read a string of 1 to size - 1 bytes, and its NUL. Return false if the string is empty,
 * too long or unreadable.
 */
bool memory_read_text(struct memory *memory, uint64_t addr, char *to, size_t size);

#endif
