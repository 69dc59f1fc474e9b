/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is an ELF file. Its tables name the slots into which the
 * dynamic linker writes addresses.
 */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz.h"
#include "tracee/elf/imports.h"
#include "tracee/elf/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "malloc", "free", "" };
	struct elf_imports imports = ELF_IMPORTS_INIT;
	static int fd = -1;
	uint64_t vaddr;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, 0) == 0 &&
	      pwrite(fd, data, size, 0) == (ssize_t)size);
	if (elf_imports_read(fd, names, sizeof(names) / sizeof(names[0]), &imports) == 0)
		for (size_t i = 0; i < imports.count; i++)
			CHECK(imports.items[i].name < sizeof(names) / sizeof(names[0]));
	elf_imports_release(&imports);
	(void)elf_frame_tables_find(fd, &vaddr);
	return 0;
}
