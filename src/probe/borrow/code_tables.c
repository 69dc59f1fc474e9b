/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/code_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "tracee/elf/reader.h"

/* Maximum size of a file's unwind tables; Chromium's are 20 MiB. */
#define TABLES_MAX_BYTES (UINT64_C(64) << 20)

/*
 * The first bytes of an .eh_frame_hdr section as all linkers write it: the version
 * number, and the encodings of three fields.
 */
static const uint8_t header_form[4] = { 1, 0x1b, 0x03, 0x3b };

struct header {
	uint8_t form[4];
	/* distance from this member to the start of .eh_frame */
	int32_t frames_delta;
	uint32_t entry_count;
};

struct header_entry {
	/*
	 * addresses of the function and of its record in .eh_frame, as distances from the
	 * start of .eh_frame_hdr
	 */
	int32_t code_delta, entry_delta;
};

/* A range of link-time addresses in a file, to which the load bias has not been added. */
struct span {
	uint64_t start, end;
};

/*
 * Read bytes at a link-time address of the file. One loadable segment must contain all
 * of them.
 */
static int read_vaddr(const struct loaded *file, uint64_t vaddr, void *to, size_t length)
{
	for (size_t i = 0; i < file->exports.part_count; i++) {
		const struct elf_part *part = &file->exports.parts[i];

		if (vaddr >= part->vaddr && vaddr - part->vaddr <= part->file_bytes &&
		    length <= part->file_bytes - (vaddr - part->vaddr))
			return io_read_at(file->fd, to, length,
					  part->offset_bytes + (vaddr - part->vaddr));
	}
	return -EBADMSG;
}

/*
 * Find the end of the .eh_frame section: the end of the record to which the last entry
 * of the search table refers.
 */
static int find_end(const struct loaded *file, uint64_t header_vaddr,
		    const struct header *header, uint64_t *ret)
{
	_cleanup_free_ struct header_entry *entries = NULL;
	uint64_t entries_vaddr = header_vaddr + sizeof(*header);
	size_t bytes = header->entry_count * sizeof(*entries);
	int32_t last = INT32_MIN;
	uint32_t length = 0;
	int r;

	if (bytes == 0 || bytes > TABLES_MAX_BYTES)
		return -EBADMSG;
	entries = xmalloc(bytes);
	r = read_vaddr(file, entries_vaddr, entries, bytes);
	if (r < 0)
		return r;
	for (size_t i = 0; i < header->entry_count; i++)
		last = entries[i].entry_delta > last ? entries[i].entry_delta : last;
	r = read_vaddr(file, header_vaddr + (uint64_t)(int64_t)last, &length,
		       sizeof(length));
	if (r < 0)
		return r;
	/*
	 * The static analyzer does not see that read_vaddr() has set
	 * length. NOLINTNEXTLINE
	 */
	*ret = header_vaddr + (uint64_t)(int64_t)last + sizeof(length) + length;
	if (*ret < entries_vaddr + bytes)
		*ret = entries_vaddr + bytes;
	return r;
}

static int find_tables(const struct loaded *file, struct span *ret, uint64_t *ret_header)
{
	struct header header = { .frames_delta = 0 };
	uint64_t frames_vaddr;
	int r;

	r = elf_frame_tables_find(file->fd, ret_header);
	if (r == 0)
		r = read_vaddr(file, *ret_header, &header, sizeof(header));
	if (r == 0 && memcmp(header.form, header_form, sizeof(header_form)) != 0)
		r = -EBADMSG;
	if (r == 0)
		r = find_end(file, *ret_header, &header, &ret->end);
	if (r < 0)
		return r;
	/*
	 * The static analyzer does not see that read_vaddr() has set
	 * header. NOLINTNEXTLINE
	 */
	frames_vaddr = *ret_header + offsetof(struct header, frames_delta) +
		       (uint64_t)(int64_t)header.frames_delta; /* NOLINT */
	ret->start = frames_vaddr < *ret_header ? frames_vaddr : *ret_header;
	return ret->end > ret->start && ret->end - ret->start <= TABLES_MAX_BYTES
		       ? 0
		       : -EBADMSG;
}

static struct span find_code(const struct loaded *file)
{
	struct span code = { UINT64_MAX, 0 };

	for (size_t i = 0; i < file->exports.part_count; i++) {
		const struct elf_part *part = &file->exports.parts[i];

		if (!part->is_code)
			continue;
		code.start = part->vaddr < code.start ? part->vaddr : code.start;
		code.end = part->vaddr + part->file_bytes > code.end
				   ? part->vaddr + part->file_bytes
				   : code.end;
	}
	return code;
}

void code_tables_add(struct code_tables *tables, const struct loaded *file)
{
	struct span code = find_code(file), span = { 0, 0 };
	_cleanup_free_ uint8_t *bytes = NULL;
	uint64_t header_vaddr = 0;
	size_t length;

	if (code.start >= code.end || find_tables(file, &span, &header_vaddr) < 0)
		return;
	length = span.end - span.start;
	bytes = xmalloc(length);
	if (read_vaddr(file, span.start, bytes, length) < 0)
		return;
	tables->items = xgrow(tables->items, &tables->capacity, tables->count + 1,
			      sizeof(*tables->items));
	tables->items[tables->count++] = (struct code_table){
		.start_addr = file->base_addr + code.start,
		.end_addr = file->base_addr + code.end,
		.tables_addr = file->base_addr + span.start,
		.header_offset = header_vaddr - span.start,
		.bytes = bytes,
		.length = length,
	};
	bytes = NULL;
}

/*
 * Addresses in unwind tables are relative to the tables. To look up an address in
 * memstate's copy of the tables, shift the address by the distance between the process's
 * tables and the copy.
 */
bool code_tables_find(const struct code_tables *tables, uint64_t addr,
		      struct unwind_rules *ret)
{
	for (size_t i = 0; i < tables->count; i++) {
		const struct code_table *table = &tables->items[i];
		uint64_t copy = (uintptr_t)table->bytes;
		const struct unwind_module module = {
			.start = copy,
			.end = copy + table->length,
			.tables_addr = copy + table->header_offset,
		};

		if (addr >= table->start_addr && addr < table->end_addr)
			return unwind_rules_find(&module,
						 addr - table->tables_addr + copy, ret);
	}
	return false;
}

void code_tables_release(struct code_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free(tables->items[i].bytes);
	free(tables->items);
	*tables = (struct code_tables)CODE_TABLES_INIT;
}
