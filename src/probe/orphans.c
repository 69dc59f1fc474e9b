/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/orphans.h"

#include <string.h>
#include <sys/shm.h>

#include "probe/parcel.h"

static bool is_segment(const struct mapping *m, uint32_t access)
{
	return (m->flags & (MAPPING_ACCESS | MAPPING_SHARED)) == (access | MAPPING_SHARED) &&
	       strncmp(m->name, "/SYSV", 5) == 0;
}

/* Nobody has the segment attached but the process, and `others` more. */
static bool is_alone(const struct mapping_list *mappings, const struct mapping *m,
		     uint64_t bytes, uint64_t others)
{
	struct shmid_ds segment;
	uint64_t parts = 0;

	for (size_t i = 0; i < mappings->count; i++)
		parts += mappings->items[i].inode == m->inode &&
			 strncmp(mappings->items[i].name, "/SYSV", 5) == 0;
	return m->inode <= INT32_MAX && shmctl((int)m->inode, IPC_STAT, &segment) == 0 &&
	       segment.shm_segsz == bytes && segment.shm_nattch == parts + others;
}

static bool is_orphan(const struct mapping_list *mappings, const struct mapping *code,
		      uint64_t own_addr)
{
	uint64_t page_addr = parcel_page_addr(code->start_addr);
	const struct mapping *page = mapping_list_find(mappings, page_addr);

	if (!is_segment(code, MAPPING_READ | MAPPING_EXEC) || code->file_offset_bytes != 0 ||
	    !is_alone(mappings, code, PARCEL_BYTES, 0))
		return false;
	/* the stub has not come so far */
	if (code->end_addr - code->start_addr == PARCEL_BYTES)
		return true;
	return page && page->start_addr == page_addr &&
	       is_segment(page, MAPPING_READ | MAPPING_WRITE) &&
	       is_alone(mappings, page, AGENT_PAGE_BYTES, own_addr == page_addr);
}

size_t orphans_find(const struct mapping_list *mappings, uint64_t own_addr,
		    uint64_t ret[ORPHANS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < mappings->count && count < ORPHANS_MAX; i++)
		if (is_orphan(mappings, &mappings->items[i], own_addr))
			ret[count++] = mappings->items[i].start_addr;
	return count;
}
