/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/allocators.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/tree.h"
#include "../../support/unit.h"

static const struct machine x86_64 = { ELFCLASS64, ELFDATA2LSB, EM_X86_64 };
static const struct machine i386 = { ELFCLASS32, ELFDATA2LSB, EM_386 };

static int set_up(void **state)
{
	struct tree *tree = test_malloc(sizeof(*tree));

	tree_make(tree);
	*state = tree;
	return 0;
}

static int tear_down(void **state)
{
	tree_remove(*state);
	test_free(*state);
	return 0;
}

static void add_library(const struct tree *tree, const char *path,
			const struct machine *machine)
{
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, machine->elf_class,
			     machine->byte_order },
		.e_type = ET_DYN,
		.e_machine = machine->number,
	};

	tree_write_bytes(tree, path, &head, sizeof(head));
}

/* Return the library's path below the root, or NULL with the error in errno. */
static const char *find(const struct tree *tree, const char *name,
			const struct machine *machine)
{
	static char found[256];
	char *path = NULL;
	int r = allocators_find_library(tree->root, allocators_find(name, strlen(name)),
					machine, &path);

	found[0] = '\0';
	if (path) {
		assert_true(strncmp(path, tree->root, strlen(tree->root)) == 0);
		strcpy(found, path + strlen(tree->root));
	}
	free(path);
	errno = -r;
	return r == 0 ? found : NULL;
}

static void usual_folders_are_searched_without_ld_so_conf(void **state)
{
	static const char *const folders[] = {
		"usr/local/lib",
		"usr/local/lib64",
		"lib/x86_64-linux-gnu",
		"usr/lib/x86_64-linux-gnu",
		"lib64",
		"usr/lib64",
		"lib",
		"usr/lib",
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char path[128];

		strcpy(stpcpy(path, folders[i]), "/libmimalloc.so.2");
		assert_row(!find(*state, "mimalloc", &x86_64) && errno == ENOENT, path);
		add_library(*state, path, &x86_64);
		assert_string_equal(find(*state, "mimalloc", &x86_64) + 1, path);
		tree_delete(*state, path);
	}
}

static void folders_of_ld_so_conf_come_first(void **state)
{
	tree_write(*state, "etc/ld.so.conf", "# ours\ninclude ld.so.conf.d/*.conf\n");
	tree_write(*state, "etc/ld.so.conf.d/a.conf", "\t/srv/empty # nothing here\n");
	tree_write(*state, "etc/ld.so.conf.d/b.conf", "hwcap 1 nosegneg\n/srv/lib");
	add_library(*state, "srv/lib/libjemalloc.so.2", &x86_64);
	add_library(*state, "usr/lib/libjemalloc.so.2", &x86_64);
	assert_string_equal(find(*state, "jemalloc", &x86_64),
			    "/srv/lib/libjemalloc.so.2");
}

static void an_ld_so_conf_that_includes_itself_is_read_once(void **state)
{
	tree_write(*state, "etc/ld.so.conf", "include /etc/ld.so.conf\n/srv/lib\n");
	add_library(*state, "srv/lib/libjemalloc.so", &x86_64);
	assert_string_equal(find(*state, "jemalloc", &x86_64), "/srv/lib/libjemalloc.so");
}

static void the_newest_of_several_versions_is_found(void **state)
{
	add_library(*state, "usr/lib/libjemalloc.so", &x86_64);
	add_library(*state, "usr/lib/libjemalloc.so.1", &x86_64);
	add_library(*state, "usr/lib/libjemalloc.so.10", &x86_64);
	add_library(*state, "usr/lib/libjemalloc.so.2", &x86_64);
	add_library(*state, "usr/lib/libjemalloc.so.99-old", &x86_64);
	tree_write(*state, "usr/lib/libjemalloc.so.98", "INPUT(libjemalloc.so.2)");
	assert_string_equal(find(*state, "jemalloc", &x86_64),
			    "/usr/lib/libjemalloc.so.10");
}

static void names_with_a_common_prefix_are_distinguished(void **state)
{
	add_library(*state, "usr/lib/libtcmalloc_minimal.so.4", &x86_64);
	add_library(*state, "usr/lib/libtcmalloc_debug.so.4", &x86_64);
	assert_null(find(*state, "tcmalloc", &x86_64));
	assert_string_equal(find(*state, "tcmalloc_minimal", &x86_64),
			    "/usr/lib/libtcmalloc_minimal.so.4");
}

static void a_library_for_another_machine_is_skipped_with_its_own_error(void **state)
{
	add_library(*state, "usr/lib/i386-linux-gnu/libjemalloc.so.2", &i386);
	assert_null(find(*state, "jemalloc", &x86_64));
	assert_int_equal(errno, ENOEXEC);
	assert_string_equal(find(*state, "jemalloc", &i386),
			    "/usr/lib/i386-linux-gnu/libjemalloc.so.2");
	add_library(*state, "usr/lib64/libjemalloc.so.1", &x86_64);
	assert_string_equal(find(*state, "jemalloc", &x86_64),
			    "/usr/lib64/libjemalloc.so.1");
}

static void the_allocator_is_guessed_from_the_file_name(void **state)
{
	(void)state;
	assert_string_equal(allocators_guess("/x/libjemalloc.so.2")->name, "jemalloc");
	assert_string_equal(allocators_guess("libtcmalloc_minimal.so")->name,
			    "tcmalloc_minimal");
	assert_null(allocators_guess("/jemalloc/libfoo.so"));
	assert_null(allocators_guess("/x/libtcmalloc_debug.so.4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			usual_folders_are_searched_without_ld_so_conf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(folders_of_ld_so_conf_come_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			an_ld_so_conf_that_includes_itself_is_read_once, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_newest_of_several_versions_is_found,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			names_with_a_common_prefix_are_distinguished, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_library_for_another_machine_is_skipped_with_its_own_error,
			set_up, tear_down),
		cmocka_unit_test(the_allocator_is_guessed_from_the_file_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
