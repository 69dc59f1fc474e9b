/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "base/xalloc.h"
#include "probe/borrow/call_chain.h"
#include "proc/smaps/maps.h"

/* The functions of this program, at the addresses of this process. */
static struct landmarks marks;
static struct mapping_list mappings;

struct seen {
	struct call_chain chain;
	uint64_t old_word;
};

__attribute__((noinline)) static void not_called(void)
{
	__asm__ volatile("");
}

static struct code_range range_of(void (*function)(void))
{
	uint64_t start = (uintptr_t)function;

	return (struct code_range){ start, start + 16 };
}

/* Read the caller's call chain from a copy of this thread's stack. */
__attribute__((noinline)) static void read_chain(struct code_range range,
						 struct seen *ret)
{
	uint64_t old_words[4] = { range.start_addr + 4, range.start_addr + 4,
				  range.start_addr + 4, range.start_addr + 4 };
	const struct mapping *m = mapping_list_find(&mappings, (uintptr_t)old_words);
	struct unwind_state start;
	struct stack_words stack;

	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=r"(start.pc), "=r"(start.sp), "=r"(start.rbp)
			 : "r"(old_words)
			 : "memory");
	assert_non_null(m);
	stack = (struct stack_words){ (const uint64_t *)(uintptr_t)start.sp,
				      (m->end_addr - start.sp) / 8, start.sp };
	marks.ranges = &range;
	marks.range_count = 1;
	call_chain_read(&marks, &stack, &start, &ret->chain);
	marks.range_count = 0;
	marks.ranges = NULL;
	ret->old_word = old_words[3];
}

__attribute__((noinline)) static void is_active(struct seen *ret)
{
	read_chain((struct code_range){ (uintptr_t)is_active, (uintptr_t)is_active + 64 },
		   ret);
	__asm__ volatile("" : : "r"(ret) : "memory");
}

static void a_stale_return_address_is_not_a_call(void **state)
{
	struct seen seen = { .old_word = 0 };

	(void)state;
	read_chain(range_of(not_called), &seen);
	assert_int_equal(seen.old_word, (uintptr_t)not_called + 4);
	assert_true(seen.chain.is_whole);
	assert_false(seen.chain.holds);
}

static void an_active_function_is_in_the_chain(void **state)
{
	struct seen seen = { .old_word = 0 };

	(void)state;
	is_active(&seen);
	assert_true(seen.chain.holds);
}

static void without_unwind_tables_the_whole_stack_remains(void **state)
{
	struct code_tables tables = marks.tables;
	struct seen seen = { .old_word = 0 };

	(void)state;
	marks.tables = (struct code_tables)CODE_TABLES_INIT;
	read_chain(range_of(not_called), &seen);
	marks.tables = tables;
	assert_false(seen.chain.is_whole);
	assert_int_equal(seen.chain.rest_index, 0);
}

/* ---- damaged tables ---- */

static void open_copy(struct loaded *file, uint8_t *bytes, size_t length)
{
	char path[] = "/tmp/memstate-tables-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, bytes, length), length);
	*file = (struct loaded){ .fd = fd, .exports = ELF_EXPORTS_INIT };
	assert_int_equal(elf_exports_read(fd, &file->exports), 0);
}

static const Elf64_Phdr *find_part(const uint8_t *bytes)
{
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Phdr *parts = (const void *)(bytes + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		if (parts[i].p_type == PT_GNU_EH_FRAME)
			return &parts[i];
	fail();
	return NULL;
}

static void look_everywhere(const struct code_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		for (uint64_t a = tables->items[i].start_addr;
		     a < tables->items[i].end_addr; a += 97) {
			struct unwind_rules rules;

			(void)code_tables_find(tables, a, &rules);
		}
}

static void damaged_unwind_tables_do_no_harm(void **state)
{
	uint8_t *bytes = xmalloc(64 << 20);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, bytes, 64 << 20);
	const Elf64_Phdr *part = find_part(bytes);
	uint64_t start = part->p_offset, span = part->p_filesz * 5;

	(void)state;
	close(fd);
	srandom(1);
	for (unsigned int round = 0; round < 200; round++) {
		struct code_tables tables = CODE_TABLES_INIT;
		struct loaded file;
		uint64_t range = round % 3 ? span : 12, at[8];
		uint8_t before[8];

		for (size_t i = 0; i < 8; i++) {
			at[i] = start + (uint64_t)random() % range;
			at[i] = at[i] < (uint64_t)length ? at[i] : start;
			before[i] = bytes[at[i]];
			bytes[at[i]] = (uint8_t)random();
		}
		open_copy(&file, bytes, (size_t)length);
		code_tables_add(&tables, &file);
		look_everywhere(&tables);
		code_tables_release(&tables);
		elf_exports_release(&file.exports);
		close(file.fd);
		for (size_t i = 8; i-- > 0;)
			bytes[at[i]] = before[i];
	}
	free(bytes);
}

static int add(void *context, const struct loaded *file, const char **ret_reason)
{
	(void)ret_reason;
	code_tables_add(context, file);
	return 0;
}

static int read_self(void **state)
{
	const char *reason;
	int fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	return proc_maps_read(fd, &mappings) ||
	       loaded_read_all(fd, &mappings, add, &marks.tables, &reason) || close(fd);
}

static int forget(void **state)
{
	(void)state;
	landmarks_release(&marks);
	mapping_list_release(&mappings);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stale_return_address_is_not_a_call),
		cmocka_unit_test(an_active_function_is_in_the_chain),
		cmocka_unit_test(without_unwind_tables_the_whole_stack_remains),
		cmocka_unit_test(damaged_unwind_tables_do_no_harm),
	};

#ifndef __x86_64__
	return 77;
#endif
	return cmocka_run_group_tests(tests, read_self, forget);
}
