/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/build_id.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "proc/system/foreign_file.h"
#include "tracee/elf/reader.h"

#define BUILD_ID_MIN 2

bool elf_build_id_is_same(const struct elf_build_id *a, const struct elf_build_id *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* Find the build ID in the notes of one section. */
static void find_in_notes(const uint8_t *notes, uint64_t length, uint64_t alignment,
			  struct elf_build_id *ret)
{
	uint64_t name, text, end;
	Elf64_Nhdr note;

	for (uint64_t at = 0; at + sizeof(note) <= length;
	     at = align_up(end, alignment)) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = align_up(name + note.n_namesz, alignment);
		end = text + note.n_descsz;
		if (end > length)
			return;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(notes + name, "GNU", sizeof("GNU")) != 0 ||
		    note.n_descsz < BUILD_ID_MIN || note.n_descsz > ELF_BUILD_ID_MAX)
			continue;
		memcpy(ret->bytes, notes + text, note.n_descsz);
		ret->length = note.n_descsz;
		return;
	}
}

int elf_build_id_read(int fd, struct elf_build_id *ret)
{
	_cleanup_elf_reader_ struct elf_reader reader;
	int r = elf_reader_open_native(fd, &reader);

	ret->length = 0;
	if (r == 0)
		r = elf_reader_read_sections(&reader);
	for (size_t i = 0; r == 0 && ret->length == 0 && i < reader.header.e_shnum; i++) {
		const Elf64_Shdr *section = &reader.sections[i];
		_cleanup_free_ void *notes = NULL;

		if (section->sh_type == SHT_NOTE &&
		    elf_reader_read_section(&reader, i, &notes) == 0)
			find_in_notes(notes, section->sh_size,
				      section->sh_addralign == 8 ? 8 : 4, ret);
	}
	return r == -ENODATA ? 0 : r;
}

/*
 * Open the debug file for a build ID below one root directory. Return the same values as
 * elf_debug_open().
 */
static int open_debug(int root_fd, const struct elf_build_id *id)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct elf_build_id found;
	int fd;

	strbuf_addf(&path, "usr/lib/debug/.build-id/%02x/", id->bytes[0]);
	for (size_t i = 1; i < id->length; i++)
		strbuf_addf(&path, "%02x", id->bytes[i]);
	strbuf_add_text(&path, ".debug");
	fd = foreign_file_open(root_fd, strbuf_text(&path), FOREIGN_ELF_BYTES_MAX);
	if (fd < 0)
		return -ENOENT;
	if (elf_build_id_read(fd, &found) == 0 && elf_build_id_is_same(&found, id))
		return fd;
	close(fd);
	return -ENOENT;
}

int elf_debug_open(int root_fd, const struct elf_build_id *id)
{
	int fd = -ENOENT;

	if (id->length == 0)
		return -ENOENT;
	if (root_fd != -1)
		fd = open_debug(root_fd, id);
	return fd < 0 ? open_debug(FOREIGN_OWN_ROOT, id) : fd;
}
