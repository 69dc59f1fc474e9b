/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_file.h"

#include <elf.h>
#include <sys/mman.h>

#include "base/io.h"
#include "unit.h"

const struct made_not_elf made_not_elf[MADE_NOT_ELF_COUNT] = {
	{ "", 0, "empty" },
	{ "#!/bin/sh\n", 10, "a script" },
	{ ELFMAG, SELFMAG, "cut" },
};

int made_file(const void *bytes, size_t length)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0 && io_write_all(fd, bytes, length) == 0);
	return fd;
}

int made_not_elf_open(size_t i)
{
	return made_file(made_not_elf[i].bytes, made_not_elf[i].length);
}
