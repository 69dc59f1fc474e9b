/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/exports.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../support/made_file.h"
#include "../../support/unit.h"

/* Open the libc of this program. malloc itself may come from another library. */
static int open_libc(Dl_info *ret)
{
	void *version = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	assert_non_null(version);
	assert_true(dladdr(version, ret));
	return open(ret->dli_fname, O_RDONLY | O_CLOEXEC);
}

static void exports_match_the_dynamic_linker(void **state)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	const struct elf_export *found;
	Dl_info libc;
	int fd = open_libc(&libc);

	(void)state;
	assert_int_equal(elf_exports_read(fd, &exports), 0);
	found = elf_exports_find(&exports, "gnu_get_libc_version");
	assert_non_null(found);
	assert_true(found->is_function);
	assert_true(found->vaddr ==
		    (uintptr_t)libc.dli_saddr - (uintptr_t)libc.dli_fbase);
	assert_null(elf_exports_find(&exports, "no_such_function"));
	elf_exports_release(&exports);
	close(fd);
}

static void aliases_of_an_address_are_kept(void **state)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	const struct elf_export *one, *other;
	Dl_info libc;
	int fd = open_libc(&libc);

	(void)state;
	assert_int_equal(elf_exports_read(fd, &exports), 0);
	one = elf_exports_find(&exports, "malloc");
	other = elf_exports_find(&exports, "__libc_malloc");
	assert_non_null(one);
	assert_non_null(other);
	assert_true(one->vaddr == other->vaddr);
	elf_exports_release(&exports);
	close(fd);
}

static void other_files_are_refused_without_side_effects(void **state)
{
	const struct elf_exports before = { .count = 7 };

	(void)state;
	for (size_t i = 0; i < MADE_NOT_ELF_COUNT; i++) {
		struct elf_exports exports = before;
		int fd = made_not_elf_open(i);

		assert_row(elf_exports_read(fd, &exports) == -ENOEXEC,
			   made_not_elf[i].why);
		assert_row(exports.count == 7 && !exports.items, made_not_elf[i].why);
		close(fd);
	}
}

static void a_truncated_library_is_refused(void **state)
{
	struct elf_exports exports = ELF_EXPORTS_INIT;
	char head[4096];
	Dl_info libc;
	int fd = open_libc(&libc), cut;

	(void)state;
	assert_true(pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head));
	cut = made_file(head, sizeof(head));
	assert_int_equal(elf_exports_read(cut, &exports), -EBADMSG);
	assert_null(exports.items);
	close(cut);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports_match_the_dynamic_linker),
		cmocka_unit_test(aliases_of_an_address_are_kept),
		cmocka_unit_test(other_files_are_refused_without_side_effects),
		cmocka_unit_test(a_truncated_library_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
