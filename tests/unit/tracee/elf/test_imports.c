/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/imports.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/made_file.h"
#include "../../support/unit.h"

static const char *const names[] = { "no_such_function", "strtoul" };

enum {
	NO_SUCH,
	STRTOUL
};

static unsigned long (*volatile variable)(const char *, char **, int) = strtoul;

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first module is the program itself */
}

/* The slot is one of this program, which calls the function. */
static void an_import_slot_holds_the_called_function(void **state)
{
	struct elf_imports imports = ELF_IMPORTS_INIT;
	unsigned long (*volatile function)(const char *, char **, int) = strtoul;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t base_addr = 0;
	size_t found = 0, variables = 0;

	(void)state;
	assert_true(strtoul("7", NULL, 10) == 7 && function("8", NULL, 10) == 8);
	dl_iterate_phdr(find_base, &base_addr);
	assert_int_equal(elf_imports_read(fd, names, ARRAY_SIZE(names), &imports), 0);
	for (size_t i = 0; i < imports.count; i++) {
		const struct elf_import *import = &imports.items[i];

		assert_int_equal(import->name, STRTOUL);
		/* a slot that is used only for calls may not be resolved yet */
		if (!import->is_for_calls)
			assert_true(*(uint64_t *)(uintptr_t)(base_addr + import->vaddr) ==
				    (uintptr_t)function);
		if (import->is_variable)
			variables += base_addr + import->vaddr == (uintptr_t)&variable;
		found++;
	}
	assert_true(found > variables);
#ifdef __PIE__
	assert_int_equal(variables, 1);
#endif
	elf_imports_release(&imports);
	close(fd);
}

static void other_files_are_refused_without_side_effects(void **state)
{
	const struct elf_imports before = { .count = 7 };

	(void)state;
	for (size_t i = 0; i < MADE_NOT_ELF_COUNT; i++) {
		struct elf_imports imports = before;
		int fd = made_not_elf_open(i);

		assert_row(elf_imports_read(fd, names, ARRAY_SIZE(names), &imports) ==
				   -ENOEXEC,
			   made_not_elf[i].why);
		assert_row(imports.count == 7 && !imports.items, made_not_elf[i].why);
		close(fd);
	}
}

/*
 * Falsify each word of the ELF header, and of the bytes that
 * follow it, one after the other.
 */
static void a_falsified_file_is_refused_or_has_fewer_imports(void **state)
{
	static uint8_t bytes[1 << 20];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t length = pread(fd, bytes, sizeof(bytes), 0);

	(void)state;
	assert_true(length > (ssize_t)sizeof(Elf64_Ehdr));
	close(fd);
	for (size_t at = SELFMAG; at < sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
	     at += 2) {
		struct elf_imports imports = ELF_IMPORTS_INIT;
		uint8_t saved[2] = { bytes[at], bytes[at + 1] };
		int lying;

		memset(bytes + at, 0xff, sizeof(saved));
		lying = made_file(bytes, (size_t)length);
		if (elf_imports_read(lying, names, ARRAY_SIZE(names), &imports) == 0)
			elf_imports_release(&imports);
		close(lying);
		memcpy(bytes + at, saved, sizeof(saved));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_import_slot_holds_the_called_function),
		cmocka_unit_test(other_files_are_refused_without_side_effects),
		cmocka_unit_test(a_falsified_file_is_refused_or_has_fewer_imports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
