/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_id - the build ID of an ELF file, and the debug file that is installed for it.
 */
#ifndef MS_TRACEE_ELF_BUILD_ID_H
#define MS_TRACEE_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

/* Identifies one build of a program or library. */
struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t length; /* 0: none */
};

bool elf_build_id_is_same(const struct elf_build_id *a, const struct elf_build_id *b);

/*
 * Read the build ID of an open file; its length is 0 if the file has none. Returns 0,
 * -ENOEXEC if it is not a 64-bit ELF file for this machine, -EBADMSG or -errno.
 */
int elf_build_id_read(int fd, struct elf_build_id *ret);

/*
 * Open the debug file with this build ID, below /usr/lib/debug of root_fd unless that is
 * -1, or else of memstate's own root. A file with another build ID in it is ignored.
 * Returns a descriptor or -ENOENT.
 */
int elf_debug_open(int root_fd, const struct elf_build_id *id);

#endif
