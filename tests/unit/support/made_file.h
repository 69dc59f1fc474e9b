/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made_file - files in memory, with given contents. Any error fails the test. */
#ifndef MS_TESTS_MADE_FILE_H
#define MS_TESTS_MADE_FILE_H

#include <stddef.h>

/* Return a descriptor of a new file with these contents. The caller closes it. */
int made_file(const void *bytes, size_t length);

/* Files that are not ELF files. */
struct made_not_elf {
	const char *bytes;
	size_t length;
	const char *why;
};
#define MADE_NOT_ELF_COUNT 3
extern const struct made_not_elf made_not_elf[MADE_NOT_ELF_COUNT];

/* Return a descriptor of a new file with the contents of made_not_elf[i]. */
int made_not_elf_open(size_t i);

#endif
