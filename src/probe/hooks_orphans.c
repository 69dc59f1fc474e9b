/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/hooks_orphans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/segment.h"
#include "proc/proc_stat.h"

static bool read_head(int mem_fd, uint64_t addr, struct hooks_head *ret)
{
	return pread(mem_fd, ret, sizeof(*ret), (off_t)addr) == (ssize_t)sizeof(*ret) &&
	       ret->magic == HOOKS_MAGIC && ret->version == HOOKS_VERSION &&
	       ret->code_bytes <= HOOKS_CODE_BYTES && ret->record_count <= HOOKS_RECORD_MAX;
}

/* One in another pid namespace is not known: it is taken for alive. */
static bool has_owner(const struct procfs *fs, const struct hooks_head *head)
{
	struct process owner;
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != head->owner_namespace)
		return true;
	return head->owner_pid <= INT32_MAX &&
	       proc_stat_read(fs, (int)head->owner_pid, &owner) == 0 &&
	       owner.start_ticks == head->owner_start_ticks && !process_has_ended(&owner);
}

/* All that lies in the range is a part of it: nothing else is ever unmapped. */
static bool is_whole(const struct mapping_list *mappings, size_t first, uint64_t bytes)
{
	uint64_t base_addr = mappings->items[first].start_addr;

	for (size_t i = first; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (m->start_addr >= base_addr + bytes)
			break;
		if (m->end_addr > base_addr + bytes ||
		    (m->inode != 0 && !segment_is_mapped(m)))
			return false;
	}
	return true;
}

static bool is_code(const struct mapping *m)
{
	return segment_is_mapped(m) && m->file_offset_bytes == 0 &&
	       (m->flags & MAPPING_ACCESS) == (MAPPING_READ | MAPPING_EXEC);
}

/* As hooks have it. 0: it is something else. */
static uint64_t read_size(const struct mapping *m)
{
	struct shmid_ds segment;

	if (m->inode > INT32_MAX || shmctl((int)m->inode, IPC_STAT, &segment) < 0 ||
	    (segment.shm_segsz != HOOKS_BYTES && segment.shm_segsz != HOOKS_ALL_BYTES))
		return 0;
	return segment.shm_segsz;
}

size_t hooks_orphans_find(const struct hooks_look *look,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], bool *ret_is_owned)
{
	size_t count = 0;

	*ret_is_owned = false;
	for (size_t i = 0; i < look->mappings->count && count < HOOKS_ORPHANS_MAX; i++) {
		const struct mapping *m = &look->mappings->items[i];
		struct hooks_head head;
		uint64_t bytes;

		if (!is_code(m) || m->start_addr == look->own_addr)
			continue;
		bytes = read_size(m);
		if (bytes == 0 || !read_head(look->mem_fd, m->start_addr, &head) ||
		    !is_whole(look->mappings, i, bytes))
			continue;
		if (has_owner(look->fs, &head))
			*ret_is_owned = true;
		else
			ret[count++] = (struct hooks_orphan){ m->start_addr, bytes };
	}
	return count;
}

/* Whoever has an address of theirs gets past the hooks from now on. */
static int close_gates(const struct mapping_list *mappings, const struct hooks_head *head)
{
	const struct mapping *m = mapping_list_find(mappings, head->gates_addr);
	void *memory;
	int segment, r;

	if (head->gates_addr == 0)
		return 0;
	r = m ? segment_attach(m, GATES_BYTES, &segment, &memory) : -EINVAL;
	if (r < 0)
		return r;
	if (((struct gates *)memory)->magic == GATES_MAGIC)
		gates_lead_past(memory, head);
	shmdt(memory);
	return 0;
}

int hooks_orphan_disarm(struct hooks_switch *s, const struct mapping_list *mappings, int mem_fd,
			uint64_t base_addr)
{
	_cleanup_free_ struct hooks_record *records = NULL;
	struct hooks_head head;
	bool is_inside = true;
	size_t bytes;
	int r;

	if (!read_head(mem_fd, base_addr, &head))
		return -EBADMSG;
	bytes = head.record_count * sizeof(*records);
	records = xmalloc(bytes + 1);
	if (pread(mem_fd, records, bytes, (off_t)(base_addr + HOOKS_CODE_BYTES)) != (ssize_t)bytes)
		return -EBADMSG;
	r = close_gates(mappings, &head);
	if (r < 0)
		return r;
	s->base_addr = base_addr;
	s->gates_addr = head.gates_addr;
	s->code_bytes = head.code_bytes;
	s->records = records;
	s->record_count = head.record_count;
	r = hooks_switch_off(s, &is_inside);
	return r == 0 && is_inside ? -EAGAIN : r;
}

uint64_t hooks_orphans_find_gates(const struct mapping_list *mappings, int mem_fd,
				  struct hooks_parcel *parcel)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		uint32_t words[2];
		void *memory;

		if (!is_code(m) || m->end_addr - m->start_addr != GATES_BYTES ||
		    pread(mem_fd, words, sizeof(words), (off_t)m->start_addr) !=
			    (ssize_t)sizeof(words) ||
		    words[0] != GATES_MAGIC || words[1] != HOOKS_VERSION ||
		    segment_attach(m, GATES_BYTES, &parcel->gates_segment, &memory) < 0)
			continue;
		parcel->gates = memory;
		return m->start_addr;
	}
	return 0;
}
