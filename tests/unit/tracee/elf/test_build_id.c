/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "../../support/made_file.h"
#include "../../support/unit.h"

/* A file with one section of notes. */
struct made {
	Elf64_Ehdr header;
	Elf64_Shdr section;
	uint8_t notes[160];
};

/* Append a note, with its text at a multiple of the alignment. */
static void add_note(struct made *made, uint32_t type, const char *name,
		     size_t text_bytes)
{
	size_t alignment = made->section.sh_addralign;
	Elf64_Nhdr note = { (uint32_t)strlen(name) + 1, (uint32_t)text_bytes, type };
	size_t at = made->section.sh_size;

	memcpy(made->notes + at, &note, sizeof(note));
	strcpy((char *)made->notes + at + sizeof(note), name);
	at = (at + sizeof(note) + note.n_namesz + alignment - 1) / alignment * alignment;
	for (size_t i = 0; i < text_bytes; i++)
		made->notes[at + i] = (uint8_t)(0xa0 + i);
	made->section.sh_size = (at + text_bytes + alignment - 1) / alignment * alignment;
}

static struct made make(size_t alignment)
{
	struct made made = { .section = { .sh_type = SHT_NOTE,
					  .sh_offset = offsetof(struct made, notes),
					  .sh_addralign = alignment } };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(io_read_at(fd, &made.header, sizeof(made.header), 0), 0);
	close(fd);
	made.header.e_shoff = offsetof(struct made, section);
	made.header.e_shnum = 1;
	return made;
}

static int read_id(const struct made *made, struct elf_build_id *ret)
{
	int fd = made_file(made, sizeof(*made));
	int r = elf_build_id_read(fd, ret);

	close(fd);
	return r;
}

static void it_is_found_behind_other_notes(void **state)
{
	static const size_t alignments[] = { 4, 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(alignments); i++) {
		struct made made = make(alignments[i]);
		struct elf_build_id id;

		add_note(&made, NT_GNU_ABI_TAG, "GNU", 20);
		add_note(&made, NT_GNU_BUILD_ID, "Foo", 5);
		add_note(&made, NT_GNU_BUILD_ID, "GNU", 20);
		assert_int_equal(read_id(&made, &id), 0);
		assert_int_equal(id.length, 20);
		assert_int_equal(id.bytes[0], 0xa0);
		assert_int_equal(id.bytes[19], 0xa0 + 19);
	}
}

static void false_notes_are_none(void **state)
{
	static const struct {
		Elf64_Nhdr note;
		const char *why;
	} rows[] = {
		{ { 4, 1, NT_GNU_BUILD_ID }, "too short" },
		{ { 4, ELF_BUILD_ID_MAX + 1, NT_GNU_BUILD_ID }, "too long" },
		{ { 4, 1000, NT_GNU_BUILD_ID }, "beyond the section" },
		{ { 4, UINT32_MAX, NT_GNU_BUILD_ID }, "a huge text" },
		{ { UINT32_MAX, 20, NT_GNU_BUILD_ID }, "a huge name" },
		{ { 3, 20, NT_GNU_BUILD_ID }, "another name" },
		{ { 4, 20, NT_GNU_ABI_TAG }, "another type" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct elf_build_id id = { .length = 7 };
		struct made made = make(4);

		add_note(&made, NT_GNU_BUILD_ID, "GNU", ELF_BUILD_ID_MAX + 4);
		memcpy(made.notes, &rows[i].note, sizeof(rows[i].note));
		assert_row(read_id(&made, &id) == 0 && id.length == 0, rows[i].why);
	}
}

static void a_note_that_its_section_cuts_is_none(void **state)
{
	struct elf_build_id id = { .length = 7 };
	struct made made = make(4);

	(void)state;
	add_note(&made, NT_GNU_BUILD_ID, "GNU", 20);
	made.section.sh_size -= 4;
	assert_int_equal(read_id(&made, &id), 0);
	assert_int_equal(id.length, 0);
}

static void a_file_without_sections_has_none(void **state)
{
	struct elf_build_id id = { .length = 7 };
	struct made made = make(4);

	(void)state;
	add_note(&made, NT_GNU_BUILD_ID, "GNU", 20);
	made.header.e_shnum = 0;
	assert_int_equal(read_id(&made, &id), 0);
	assert_int_equal(id.length, 0);
	made.header.e_machine ^= 0x100;
	assert_int_equal(read_id(&made, &id), -ENOEXEC);
}

/* Write a debug file for the build ID a0 a1 ... below the folder, and open it. */
static int open_debug(const char *folder, const struct made *made)
{
	struct elf_build_id id = { .length = 20 };
	int root_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	char path[256], name[64] = "";

	for (size_t i = 0; i < id.length; i++) {
		id.bytes[i] = (uint8_t)(0xa0 + i);
		if (i > 0)
			snprintf(name + 2 * (i - 1), 3, "%02x", id.bytes[i]);
	}
	snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/a0/%s.debug", folder,
		 name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(root_fd >= 0 && fd >= 0);
	assert_int_equal(io_write_all(fd, made, sizeof(*made)), 0);
	close(fd);
	fd = elf_debug_open(root_fd, &id);
	close(root_fd);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static void a_debug_file_with_another_build_id_is_ignored(void **state)
{
	static const char *const parts[] = { "",
					     "/usr",
					     "/usr/lib",
					     "/usr/lib/debug",
					     "/usr/lib/debug/.build-id",
					     "/usr/lib/debug/.build-id/a0" };
	char folder[] = "build_id_XXXXXX", path[128];
	struct made right = make(4), wrong = make(4), without = make(4);
	int fd, wrong_fd, without_fd;

	(void)state;
	add_note(&right, NT_GNU_BUILD_ID, "GNU", 20);
	wrong = right;
	wrong.notes[sizeof(Elf64_Nhdr) + sizeof("GNU") + 19] ^= 1;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 1; i < ARRAY_SIZE(parts); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	fd = open_debug(folder, &right);
	wrong_fd = open_debug(folder, &wrong);
	without_fd = open_debug(folder, &without);
	for (size_t i = ARRAY_SIZE(parts); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", folder, parts[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(wrong_fd, -ENOENT);
	assert_int_equal(without_fd, -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_behind_other_notes),
		cmocka_unit_test(false_notes_are_none),
		cmocka_unit_test(a_note_that_its_section_cuts_is_none),
		cmocka_unit_test(a_file_without_sections_has_none),
		cmocka_unit_test(a_debug_file_with_another_build_id_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
