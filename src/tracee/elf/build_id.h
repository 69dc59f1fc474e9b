/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_id - read the build ID of an ELF file, and open the debug file that is installed
 * for a build ID.
 */
#ifndef MS_TRACEE_ELF_BUILD_ID_H
#define MS_TRACEE_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

/* A build ID, which identifies one build of a program or library. */
struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t length; /* length of the build ID in bytes; 0 if the file has none */
};

bool elf_build_id_is_same(const struct elf_build_id *a, const struct elf_build_id *b);

/*
 * Read the build ID of an open file. The length is 0 if the file has no build ID. Return
 * 0, -ENOEXEC if the file is not a 64-bit ELF file for this machine, -EBADMSG or -errno.
 */
int elf_build_id_read(int fd, struct elf_build_id *ret);

/*
 * Open the debug file with this build ID below /usr/lib/debug. The function searches the
 * root directory root_fd first, unless it is -1, and then memstate's own root. It ignores
 * a debug file that contains another build ID. Return a descriptor or -ENOENT.
 */
int elf_debug_open(int root_fd, const struct elf_build_id *id);

#endif
