/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/private_code.h"

#include <string.h>
#include <unistd.h>

#define PAGE_BYTES UINT64_C(4096)
/* number of bytes to search at each end of a large mapping */
#define SEARCHED_BYTES (UINT64_C(1) << 20)

bool private_code_is_mapping(const struct mapping *m, uint32_t access)
{
	/*
	 * exclude shared anonymous memory, which has an inode (/dev/zero), and the heap,
	 * which has the name [heap]
	 */
	return m->inode == 0 && m->name[0] == '\0' &&
	       (m->flags & (MAPPING_ACCESS | MAPPING_SHARED)) == access;
}

static bool is_code(const struct mapping *m)
{
	return private_code_is_mapping(m, MAPPING_READ | MAPPING_EXEC);
}

bool private_code_covers(const struct mapping_list *mappings, uint64_t addr,
			 uint64_t bytes)
{
	uint64_t end_addr = addr + bytes;

	if (end_addr < addr)
		return false;
	while (addr < end_addr) {
		const struct mapping *m = mapping_list_find(mappings, addr);

		if (!m || !is_code(m))
			return false;
		addr = m->end_addr;
	}
	return true;
}

static bool has_mark(int mem_fd, uint64_t addr, const struct private_code_mark *mark)
{
	uint32_t words[2];

	return pread(mem_fd, words, sizeof(words), (off_t)(addr + mark->offset)) ==
		       (ssize_t)sizeof(words) &&
	       memcmp(words, mark->words, sizeof(words)) == 0;
}

size_t private_code_find(const struct mapping_list *mappings, int mem_fd,
			 const struct private_code_mark *mark, uint64_t *ret, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		uint64_t bytes = m->end_addr - m->start_addr;

		for (uint64_t at = 0; is_code(m) && at < bytes && count < max;
		     at += PAGE_BYTES) {
			if (at == SEARCHED_BYTES && bytes > 2 * SEARCHED_BYTES)
				at = bytes - SEARCHED_BYTES;
			if (has_mark(mem_fd, m->start_addr + at, mark))
				ret[count++] = m->start_addr + at;
		}
	}
	return count;
}
