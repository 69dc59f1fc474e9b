/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/memory.h"

#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "model/image.h"
#include "tracee/memory/mapped_file.h"

/* Bits of a pagemap entry. Source: Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAP (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61)

#define TEXT_STEP 64

void memory_release(struct memory *memory)
{
	if (memory->file_fd >= 0)
		close(memory->file_fd);
	memory->file_fd = -1;
}

static bool contains(const struct mapping *m, uint64_t addr)
{
	return addr >= m->start_addr && addr < m->end_addr;
}

const struct mapping *memory_find_mapping(struct memory *memory, uint64_t addr)
{
	const struct mapping_list *list = memory->mappings;
	size_t low;

	if (memory->found < list->count && contains(&list->items[memory->found], addr))
		return &list->items[memory->found];
	low = SEARCH_FIRST(list->count, i, list->items[i].end_addr > addr);
	if (low == list->count || !contains(&list->items[low], addr))
		return NULL;
	memory->found = low;
	return &list->items[low];
}

/* Read a page that is not resident from the mapped file. */
static bool read_file(struct memory *memory, const struct mapping *m, uint64_t addr,
		      void *to, size_t length)
{
	size_t index = (size_t)(m - memory->mappings->items);

	if (m->inode == 0)
		return false;
	if (memory->file_fd < 0 || memory->file_mapping != index) {
		memory_release(memory);
		memory->file_fd = mapped_file_open(memory->process_fd, m);
		memory->file_mapping = index;
	}
	return memory->file_fd >= 0 &&
	       pread(memory->file_fd, to, length,
		     (off_t)(m->file_offset_bytes + (addr - m->start_addr))) ==
		       (ssize_t)length;
}

static bool read_in_page(struct memory *memory, uint64_t addr, void *to, size_t length)
{
	const struct mapping *m = memory_find_mapping(memory, addr);
	uint64_t entry;

	if (!m || !(m->flags & MAPPING_READ) || m->flags & MAPPING_USERFAULT ||
	    length > m->end_addr - addr ||
	    pread(memory->pagemap_fd, &entry, sizeof(entry),
		  (off_t)(addr / IMAGE_PAGE_BYTES * sizeof(entry))) != sizeof(entry))
		return false;
	/*
	 * do not read a page that the kernel may evict before the read, because the read
	 * would then wait for the file system's server
	 */
	if (m->flags & MAPPING_REMOTE &&
	    (!(entry & PAGEMAP_PRESENT) || entry & PAGEMAP_FILE))
		return false;
	if (entry & PAGEMAP_PRESENT)
		return pread(memory->mem_fd, to, length, (off_t)addr) == (ssize_t)length;
	return !(entry & PAGEMAP_SWAP) && read_file(memory, m, addr, to, length);
}

bool memory_read(struct memory *memory, uint64_t addr, void *to, size_t length)
{
	uint8_t *at = to;

	if (addr > INT64_MAX - length)
		return false;
	while (length > 0) {
		uint64_t rest = IMAGE_PAGE_BYTES - addr % IMAGE_PAGE_BYTES;
		size_t part = length < rest ? length : (size_t)rest;

		if (!read_in_page(memory, addr, at, part))
			return false;
		addr += part;
		at += part;
		length -= part;
	}
	return true;
}

bool memory_read_text(struct memory *memory, uint64_t addr, char *to, size_t size)
{
	size_t length = 0;

	while (length < size) {
		/*
		 * read only up to the end of the page, because the next
		 * page may be absent
		 */
		uint64_t rest = IMAGE_PAGE_BYTES - (addr + length) % IMAGE_PAGE_BYTES;
		size_t part = size - length < TEXT_STEP ? size - length : TEXT_STEP;
		const char *end;

		if (part > rest)
			part = (size_t)rest;
		if (!memory_read(memory, addr + length, to + length, part))
			return false;
		end = memchr(to + length, '\0', part);
		if (end)
			return end > to;
		length += part;
	}
	return false;
}
