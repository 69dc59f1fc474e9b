/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/symbolize.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/strbuf.h"
#include "tracee/elf/build_id.h"
#include "tracee/elf/symbols.h"
#include "tracee/symbols/name.h"
#include "../../support/unit.h"

#define FRAMES_KEPT 4

struct kept {
	size_t calls, count;
	struct {
		char function[128], file[256];
		uint32_t line;
	} frames[FRAMES_KEPT];
};

static void keep(void *context, size_t file, size_t vaddr,
		 const struct code_frame *frames, size_t count)
{
	struct kept *kept = &((struct kept *)context)[vaddr];

	assert_int_equal(file, 0);
	assert_true(count > 0);
	kept->calls++;
	kept->count = count;
	for (size_t i = 0; i < count && i < FRAMES_KEPT; i++) {
		snprintf(kept->frames[i].function, sizeof(kept->frames[i].function), "%s",
			 frames[i].function ? frames[i].function : "");
		snprintf(kept->frames[i].file, sizeof(kept->frames[i].file), "%s",
			 frames[i].file ? frames[i].file : "");
		kept->frames[i].line = frames[i].line;
	}
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_addr;
	return 1; /* the first module is the program itself */
}

static uint64_t own_vaddr(uint64_t addr)
{
	uint64_t bias = 0;

	dl_iterate_phdr(find_bias, &bias);
	return addr - bias;
}

static uint64_t inner_addr, outer_addr;
static uint32_t inner_line, outer_line;

/* Store the address after the call, where the caller continues. */
static __attribute__((noinline)) void note(uint64_t *addr)
{
	*addr = (uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inlined(void)
{
	note(&inner_addr), inner_line = __LINE__;
}

static __attribute__((noinline)) void outer(void)
{
	note(&outer_addr);
	inlined(), outer_line = __LINE__;
}

static struct elf_build_id own_id(void)
{
	struct elf_build_id id = { .length = 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_build_id_read(fd, &id), 0);
	close(fd);
	return id;
}

/* Return the program's path. Magic links such as /proc/self/exe are not followed. */
static const char *own_path(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(length > 0);
	path[length] = '\0';
	return path;
}

static void ask(const char *path, const struct elf_build_id *id, struct kept *kept)
{
	uint64_t vaddrs[3];
	struct symbolize_file file = {
		.path = path,
		.build_id = id->bytes,
		.build_id_bytes = id->length,
		.vaddrs = vaddrs,
		.count = ARRAY_SIZE(vaddrs),
	};

	memset(kept, 0, ARRAY_SIZE(vaddrs) * sizeof(*kept));
	outer();
	vaddrs[0] = own_vaddr(inner_addr - 1);
	vaddrs[1] = own_vaddr(outer_addr - 1);
	vaddrs[2] = UINT64_MAX;
	symbolize(&file, 1, keep, kept);
}

static void skip_without_libelf(void)
{
	if (!elf_symbols_can_be_read()) {
		print_message("without libelf there are no names\n");
		skip();
	}
}

static void functions_are_named(void **state)
{
	struct elf_build_id id;
	struct kept kept[3];

	(void)state;
	skip_without_libelf();
	id = own_id();
	ask(own_path(), &id, kept);
	assert_int_equal(kept[1].calls, 1);
	assert_string_equal(kept[1].frames[0].function, "outer");
	assert_int_equal(kept[2].calls, 0);
	assert_int_equal(kept[0].calls, 1);
	assert_string_equal(kept[0].frames[kept[0].count - 1].function, "outer");
}

static void lines_and_inlined_functions_match_the_source(void **state)
{
	struct elf_build_id id;
	struct kept kept[3];

	(void)state;
	skip_without_libelf();
	id = own_id();
	ask(own_path(), &id, kept);
	if (kept[0].frames[0].line == 0) {
		print_message(
			"this was built without debug information, or without libdw\n");
		skip();
	}
	assert_int_equal(kept[0].count, 2);
	assert_string_equal(kept[0].frames[0].function, "inlined");
	assert_int_equal(kept[0].frames[0].line, inner_line);
	assert_int_equal(kept[0].frames[1].line, outer_line);
	assert_non_null(strstr(kept[0].frames[0].file, "test_symbolize.c"));
	assert_non_null(strstr(kept[0].frames[1].file, "test_symbolize.c"));
	assert_int_equal(kept[1].count, 1);
	assert_true(kept[1].frames[0].line < outer_line &&
		    kept[1].frames[0].line > inner_line);
}

static void a_file_of_another_build_gives_no_names(void **state)
{
	struct elf_build_id id;
	struct kept kept[3];

	(void)state;
	skip_without_libelf();
	id = own_id();
	if (id.length == 0)
		skip();
	id.bytes[0] ^= 1;
	ask(own_path(), &id, kept);
	assert_int_equal(kept[0].calls + kept[1].calls, 0);
	id.length = 0;
	ask(own_path(), &id, kept);
	assert_int_equal(kept[0].calls + kept[1].calls, 0);
}

static void other_paths_and_files_give_no_names(void **state)
{
	static const char *const paths[] = {
		"/nowhere", "/dev/zero", "/proc/self/exe", "/proc/kmsg", "/etc/passwd",
		"/",	    ""
	};
	struct elf_build_id none = { .length = 0 };
	struct kept kept[3];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		ask(paths[i], &none, kept);
		assert_int_equal(kept[0].calls + kept[1].calls, 0);
	}
}

/* Return a pseudorandom number. The damage is the same in each run. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void a_fifo_is_not_opened(void **state)
{
	char path[] = "fifo-XXXXXX";
	struct elf_build_id id = { .length = 0 };
	struct kept kept = { .calls = 0 };
	struct inotify_event event;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	int fd = mkstemp(path);

	(void)state;
	assert_true(watch >= 0 && fd >= 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	symbolize(&(struct symbolize_file){ .path = path,
					    .vaddrs = (const uint64_t[]){ 16 },
					    .count = 1,
					    .build_id = id.bytes },
		  1, keep, &kept);
	assert_int_equal(kept.calls, 0);
	assert_int_equal(read(watch, &event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	unlink(path);
}

/* Damage the file but not its headers and build-id, which would get it refused. */
static void damage(struct strbuf *program, uint32_t seed)
{
	const Elf64_Ehdr *header = (const void *)program->text;
	size_t from = program->length / 2, to = header->e_shoff;

	assert_true(from < to && to <= program->length);
	for (int i = 0; i < 2000; i++)
		program->text[from + next_random(&seed) % (to - from)] =
			(char)next_random(&seed);
}

static void a_damaged_file_does_no_harm(void **state)
{
	char path[] = "symbolize-XXXXXX";
	struct elf_build_id id;
	int fd;

	(void)state;
	skip_without_libelf();
	id = own_id();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	for (uint32_t seed = 1; seed <= 8; seed++) {
		struct strbuf program = STRBUF_INIT;
		struct kept kept[3];

		assert_int_equal(
			io_read_file_at(AT_FDCWD, "/proc/self/exe", 1 << 30, &program),
			0);
		damage(&program, seed);
		assert_int_equal(
			io_write_file_atomic(path, program.text, program.length, 0600),
			0);
		ask(path, &id, kept);
		strbuf_release(&program);
	}
	close(fd);
	unlink(path);
}

static void symbols_become_the_names_in_the_source(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "main", "main" },
		{ "parse.cold", "parse" },
		{ "parse.constprop.0.isra.1", "parse" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "a.b", "a.b" },
		{ "", "" },
#if HAVE_LIBIBERTY
		{ "_ZN3foo3barEi.part.0", "foo::bar(int)" },
#endif
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf name = STRBUF_INIT;

		symbol_name_add(&name, cases[i].symbol);
		assert_string_equal(strbuf_text(&name), cases[i].name);
		strbuf_release(&name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_named),
		cmocka_unit_test(lines_and_inlined_functions_match_the_source),
		cmocka_unit_test(a_file_of_another_build_gives_no_names),
		cmocka_unit_test(other_paths_and_files_give_no_names),
		cmocka_unit_test(a_fifo_is_not_opened),
		cmocka_unit_test(a_damaged_file_does_no_harm),
		cmocka_unit_test(symbols_become_the_names_in_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
