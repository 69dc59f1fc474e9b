/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_orphans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/borrow/private_code.h"
#include "probe/borrow/segment.h"
#include "proc/process/file.h"
#include "proc/process/stat.h"
#include "proc/process/task.h"

#define CANDIDATES_MAX 64

/* Maximum number of bytes of another memstate's command line to include in a message. */
#define COMMAND_SHOWN 64

/*
 * Return true if the owner of the hooks, the memstate process that injected them, may be
 * alive. An owner in another pid namespace is assumed to be alive. A process that forges
 * an owner can prevent counting, but it has other means to do so.
 */
static bool has_owner(const struct procfs *fs, const struct hooks_head *head)
{
	struct process owner;
	struct stat st;

	if (proc_own_stat(PROC_NS_PID, &st) < 0 || st.st_ino != head->owner_namespace)
		return true;
	return head->owner_pid <= INT32_MAX &&
	       proc_stat_read(fs, (int)head->owner_pid, &owner) == 0 &&
	       owner.start_ticks == head->owner_start_ticks && !process_has_ended(&owner);
}

/*
 * Return the pid of the memstate that owns the hooks, or -1 if the owner is not visible
 * in this pid namespace.
 */
static int find_owner_pid(const struct hooks_head *head)
{
	struct stat st;

	return proc_own_stat(PROC_NS_PID, &st) == 0 && st.st_ino == head->owner_namespace
		       ? (int)head->owner_pid
		       : -1;
}

/*
 * Return true if the mapping at this offset in the address range of the hooks may belong
 * to the hooks.
 */
static bool is_part(const struct mapping *m, uint64_t offset)
{
	if (private_code_is_mapping(m, MAPPING_READ | MAPPING_EXEC))
		return true;
	if (private_code_is_mapping(m, MAPPING_READ | MAPPING_WRITE))
		return offset == HOOKS_PRIVATE_OFFSET;
	return (offset == HOOKS_COUNTS_OFFSET &&
		segment_is_whole(m, HOOKS_COUNTS_BYTES)) ||
	       (offset == HOOKS_NODES_OFFSET && segment_is_whole(m, HOOKS_NODES_BYTES));
}

/*
 * Return true if every mapping in the range may belong to the hooks; otherwise memstate
 * must not unmap the range. The whole range was originally mapped as private code, and
 * the kernel may have merged private mappings with their neighbours at both ends.
 */
static bool is_whole(const struct mapping_list *mappings, uint64_t base_addr,
		     uint64_t bytes)
{
	uint64_t addr = base_addr, end_addr = base_addr + bytes;

	if (!private_code_covers(mappings, base_addr, HOOKS_CODE_BYTES))
		return false;
	while (addr < end_addr) {
		const struct mapping *m = mapping_list_find(mappings, addr);

		if (!m || !is_part(m, m->start_addr - base_addr))
			return false;
		addr = m->end_addr;
	}
	return true;
}

/*
 * Return the size of the address range of the hooks at addr. Return 0 if there are no
 * hooks at addr, or if other memory is mapped in the range.
 */
static uint64_t read_size(const struct hooks_search *search, uint64_t addr,
			  struct hooks_head *ret)
{
	uint64_t bytes;

	if (!hooks_exist(search->mem_fd, addr, ret))
		return 0;
	bytes = ret->unmoved_addr == addr ? HOOKS_CODE_BYTES : ret->range_bytes;
	return is_whole(search->mappings, addr, bytes) ? bytes : 0;
}

size_t hooks_orphans_find(const struct hooks_search *search,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], int *ret_owner_pid)
{
	const struct private_code_mark mark = { { HOOKS_MAGIC, HOOKS_VERSION },
						offsetof(struct hooks_head, magic) };
	uint64_t found[CANDIDATES_MAX];
	size_t count = 0, candidates;

	*ret_owner_pid = 0;
	candidates = private_code_find(search->mappings, search->mem_fd, &mark, found,
				       CANDIDATES_MAX);
	for (size_t i = 0; i < candidates && count < HOOKS_ORPHANS_MAX; i++) {
		struct hooks_head head;
		uint64_t bytes = found[i] == search->own_addr
					 ? 0
					 : read_size(search, found[i], &head);

		if (bytes == 0)
			continue;
		if (has_owner(search->fs, &head))
			*ret_owner_pid = find_owner_pid(&head);
		else
			ret[count++] = (struct hooks_orphan){ found[i], bytes };
	}
	return count;
}

int hooks_orphans_refuse(const struct hooks_search *search, int owner_pid,
			 struct strbuf *why)
{
	_cleanup_free_ char *command = NULL;

	strbuf_add_text(why, "another memstate is counting it");
	if (owner_pid > 0 && proc_task_read_command(search->fs, owner_pid, &command) == 0)
		strbuf_addf(why, ": process %d (%.*s)", owner_pid, COMMAND_SHOWN,
			    command);
	return -EBUSY;
}

bool hooks_orphans_is_one(const struct hooks_search *search,
			  const struct hooks_orphan *orphan)
{
	struct hooks_head head;

	return read_size(search, orphan->addr, &head) == orphan->bytes &&
	       !has_owner(search->fs, &head);
}

/*
 * Read the gates (jumps to hooks) at the address in the hooks' header, and check that the
 * code at the address consists of gates.
 */
static int read_gates(const struct hooks_search *search, uint64_t gates_addr,
		      struct gates *ret)
{
	return private_code_covers(search->mappings, gates_addr, GATES_BYTES) &&
			       gates_exist(search->mem_fd, gates_addr, ret)
		       ? 0
		       : -EBADMSG;
}

/*
 * Search the process's files for function addresses and calls that lead to the hooks,
 * and for the functions that the hooks replace.
 */
static int find_places(const struct hooks_switch *s, const struct hooks_search *search,
		       const struct hooks_head *head, struct hook_places *ret)
{
	const struct hook_places_source source = {
		.process_fd = s->process_fd,
		.mem_fd = s->mem_fd,
		.mappings = search->mappings,
		.there = { s->base_addr, s->gates_addr, head->originals },
		.finds_leading = true,
	};
	const char *unused;
	int r = hook_places_read(&source, ret, &unused);

	for (size_t i = 0; r == 0 && i < HOOK_COUNT_; i++)
		if (ret->originals[i] != head->originals[i])
			r = -EBADMSG;
	return r == 0 && ret->count > HOOKS_RECORD_MAX ? -E2BIG : r;
}

/*
 * Return true if a patched address still refers to the hooks. Call sites need no check:
 * each of them was either restored, or jumps to a gate, which now jumps to the original
 * function.
 */
static bool points_to_hooks(const struct hooks_switch *s,
			    const struct hooks_record *record)
{
	uint64_t now;

	return !(record->addr & HOOKS_RECORD_IS_CALL) &&
	       pread(s->mem_fd, &now, sizeof(now), (off_t)record->addr) ==
		       (ssize_t)sizeof(now) &&
	       now - s->base_addr < s->code_bytes;
}

/*
 * Check that none of the patched addresses still refers to the hooks. The list of these
 * addresses is in the process.
 */
static int check_places(const struct hooks_switch *s, const struct hooks_head *head)
{
	_cleanup_free_ struct hooks_record *noted = xmalloc(HOOKS_RECORDS_BYTES);
	size_t bytes = head->record_count * sizeof(*noted);

	if (pread(s->mem_fd, noted, bytes,
		  (off_t)(s->base_addr + HOOKS_RECORDS_OFFSET)) != (ssize_t)bytes)
		return -EBADMSG;
	for (size_t i = 0; i < head->record_count; i++)
		if (points_to_hooks(s, &noted[i]))
			return -EBADMSG;
	return 0;
}

static int disarm(struct hooks_switch *s, const struct hooks_search *search,
		  const struct hooks_head *head, struct gates *gates)
{
	struct hook_places places = HOOK_PLACES_INIT;
	bool is_inside = true;
	int r;

	r = find_places(s, search, head, &places);
	for (size_t i = 0; r == 0 && i < places.count; i++)
		s->records[s->record_count++] = (struct hooks_record){
			places.items[i].addr |
				(places.items[i].is_call_site ? HOOKS_RECORD_IS_CALL : 0),
			places.originals[places.items[i].hook]
		};
	if (r == 0 && s->gates_addr)
		gates_bypass_hooks(gates, places.originals);
	hook_places_release(&places);
	if (r == 0)
		r = hooks_switch_off(s, &is_inside);
	if (r == 0)
		r = check_places(s, head);
	return r == 0 && is_inside ? -EAGAIN : r;
}

int hooks_orphan_disarm(struct hooks_switch *s, const struct hooks_search *search,
			uint64_t base_addr)
{
	_cleanup_free_ struct hooks_record *records =
		xcalloc(HOOKS_RECORD_MAX, sizeof(*records));
	struct hooks_head head;
	struct gates gates;
	int r;

	if (!hooks_exist(search->mem_fd, base_addr, &head))
		return -EBADMSG;
	r = head.gates_addr ? read_gates(search, head.gates_addr, &gates) : 0;
	if (r < 0)
		return r;
	s->base_addr = base_addr;
	s->gates_addr = head.gates_addr;
	s->gates = head.gates_addr ? &gates : NULL;
	s->code_bytes = head.code_bytes;
	s->records = records;
	s->record_count = 0;
	r = disarm(s, search, &head, &gates);
	s->records = NULL;
	s->gates = NULL;
	return r;
}

uint64_t hooks_orphans_find_gates(const struct hooks_search *search, struct gates **ret)
{
	const struct private_code_mark mark = { { GATES_MAGIC, HOOKS_VERSION }, 0 };
	_cleanup_free_ struct gates *gates = xmalloc(sizeof(*gates));
	uint64_t found[CANDIDATES_MAX];
	size_t count = private_code_find(search->mappings, search->mem_fd, &mark, found,
					 CANDIDATES_MAX);

	for (size_t i = 0; i < count; i++) {
		if (read_gates(search, found[i], gates) < 0)
			continue;
		*ret = gates;
		gates = NULL;
		return found[i];
	}
	return 0;
}
