/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_parcel.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/blob.h"
#include "agent/count/stack_file.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/borrow/machine.h"
#include "probe/borrow/segment.h"
#include "proc/process/file.h"
#include "proc/process/stat.h"

static void fill_counts(struct count_head *head, int pid,
			const struct hook_places *places)
{
	head->head_bytes = COUNT_HEAD_BYTES;
	head->slot_bytes = COUNT_SLOT_BYTES;
	head->pid = pid;
	head->flags = COUNT_CALLS_ONLY;
	head->slot_count = 1;
	memcpy(head->allocator, places->allocator, sizeof(head->allocator));
	head->version = COUNT_VERSION;
	head->magic = COUNT_MAGIC;
}

/*
 * Record the current process as the owner in the hooks' header, so that another memstate
 * can check whether the owner is alive.
 */
static void record_owner(const struct procfs *fs, struct hooks_head *head)
{
	struct process process;
	struct stat st;

	head->owner_pid = (uint64_t)getpid();
	if (proc_stat_read(fs, getpid(), &process) == 0)
		head->owner_start_ticks = process.start_ticks;
	if (proc_own_stat(PROC_NS_PID, &st) == 0)
		head->owner_namespace = st.st_ino;
}

static int fill_code(const struct procfs *fs, struct hooks_parcel *parcel,
		     const struct hook_places *places)
{
	struct hooks_head *head = parcel->head;
	size_t bytes;
	const void *hooks = agent_hooks(&bytes);

	if (!hooks)
		return -EOPNOTSUPP;
	if (bytes < sizeof(*head) || bytes > HOOKS_CODE_BYTES)
		return -E2BIG;
	memcpy(head, hooks, bytes);
	memcpy(head->originals, places->originals, sizeof(places->originals));
	record_owner(fs, head);
	head->range_bytes = (uint32_t)hooks_parcel_bytes(parcel);
	return head->hook_count == HOOK_COUNT_ ? 0 : -E2BIG;
}

static void fill_nodes(struct stack_file_head *head, const struct hooks_wanted *wanted)
{
	struct stack_file_node *nodes = (void *)((uint8_t *)head + STACK_NODES_OFFSET);

	head->version = STACK_FILE_VERSION;
	head->head_bytes = STACK_HEAD_BYTES;
	head->node_bytes = STACK_NODE_BYTES;
	head->modules_offset = STACK_HEAD_BYTES;
	head->nodes_offset = STACK_NODES_OFFSET;
	head->pid = wanted->pid;
	head->sample_bytes = wanted->sample_bytes;
	head->scale_bits = wanted->sample_bytes ? STACK_SCALE_BITS : 0;
	nodes[STACK_NODE_CUT].pc = STACK_FILE_PC_CUT;
	head->node_count = STACK_NODE_CUT + 1;
	head->magic = STACK_FILE_MAGIC;
}

uint64_t hooks_parcel_bytes(const struct hooks_parcel *parcel)
{
	return parcel->nodes ? HOOKS_ALL_BYTES : HOOKS_BYTES;
}

/*
 * Create the shared memory segments. Processes of other users cannot attach them until
 * hooks_parcel_allow() is called.
 */
static int make_segments(struct hooks_parcel *parcel, bool has_stacks)
{
	void *nodes = NULL;
	int r = segment_make(HOOKS_COUNTS_BYTES, 0, &parcel->counts_segment,
			     &parcel->counts);

	if (r == 0 && has_stacks)
		r = segment_make(HOOKS_NODES_BYTES, 0, &parcel->nodes_segment, &nodes);
	parcel->nodes = nodes;
	return r;
}

int hooks_parcel_make(const struct hooks_wanted *wanted, int process_fd,
		      const struct hook_places *places, struct hooks_parcel *ret)
{
	struct hooks_parcel parcel = HOOKS_PARCEL_INIT;
	int64_t user = segment_user_of(process_fd);
	int r;

	parcel.user = (uid_t)user;
	parcel.head = xcalloc(1, HOOKS_COUNTS_OFFSET);
	r = user < 0 ? (int)user : make_segments(&parcel, wanted->has_stacks);
	if (r == 0)
		r = fill_code(wanted->fs, &parcel, places);
	if (r < 0) {
		hooks_parcel_release(&parcel);
		return r;
	}
	assert(parcel.counts);
	fill_counts(parcel.counts, wanted->pid, places);
	if (parcel.nodes) {
		fill_nodes(parcel.nodes, wanted);
		parcel.module_records = xcalloc(1, STACK_MODULES_BYTES);
	}
	*ret = parcel;
	return 0;
}

struct gates *gates_make(void)
{
	struct gates *gates = xcalloc(1, sizeof(*gates));

	gates->magic = GATES_MAGIC;
	gates->version = HOOKS_VERSION;
	for (size_t i = 0; i < HOOK_MAX; i++) {
		size_t code_offset = offsetof(struct gates, code) + i * GATE_BYTES;
		size_t target_offset =
			offsetof(struct gates, targets) + i * sizeof(uint64_t);

		(void)machine_jump((int32_t)target_offset - (int32_t)code_offset,
				   gates->code[i]);
	}
	return gates;
}

void hooks_parcel_release(struct hooks_parcel *parcel)
{
	if (parcel->counts)
		shmdt(parcel->counts);
	if (parcel->nodes)
		shmdt(parcel->nodes);
	free(parcel->head);
	free(parcel->gates);
	free(parcel->module_records);
	*parcel = (struct hooks_parcel)HOOKS_PARCEL_INIT;
}

int hooks_parcel_allow(const struct hooks_parcel *parcel)
{
	int r = segment_allow(parcel->counts_segment, parcel->user);

	if (r == 0 && parcel->nodes)
		r = segment_allow(parcel->nodes_segment, parcel->user);
	return r;
}

void hooks_parcel_revoke(const struct hooks_parcel *parcel)
{
	(void)segment_revoke(parcel->counts_segment);
	if (parcel->nodes)
		(void)segment_revoke(parcel->nodes_segment);
}

struct hooks_modules *hooks_parcel_modules(const struct hooks_parcel *parcel)
{
	return (struct hooks_modules *)(void *)((uint8_t *)parcel->head +
						HOOKS_MODULES_OFFSET);
}

bool hooks_exist(int mem_fd, uint64_t addr, struct hooks_head *ret)
{
	size_t bytes, filled = offsetof(struct hooks_head, owner_pid);
	const uint8_t *hooks = agent_hooks(&bytes);
	_cleanup_free_ uint8_t *found = xmalloc(bytes + 1);

	if (bytes < sizeof(*ret) ||
	    pread(mem_fd, found, bytes, (off_t)addr) != (ssize_t)bytes ||
	    memcmp(found + sizeof(ret->originals), hooks + sizeof(ret->originals),
		   filled - sizeof(ret->originals)) != 0 ||
	    memcmp(found + sizeof(*ret), hooks + sizeof(*ret), bytes - sizeof(*ret)) != 0)
		return false;
	memcpy(ret, found, sizeof(*ret));
	return ret->record_count <= HOOKS_RECORD_MAX &&
	       (ret->range_bytes == HOOKS_BYTES || ret->range_bytes == HOOKS_ALL_BYTES);
}

bool gates_exist(int mem_fd, uint64_t addr, struct gates *ret)
{
	_cleanup_free_ struct gates *expected = gates_make();

	if (pread(mem_fd, ret, sizeof(*ret), (off_t)addr) != (ssize_t)sizeof(*ret))
		return false;
	memcpy(expected->targets, ret->targets, sizeof(expected->targets));
	return memcmp(ret, expected, sizeof(*ret)) == 0;
}

void gates_use_hooks(struct gates *gates, const struct hooks_head *head,
		     uint64_t base_addr)
{
	for (size_t i = 0; i < HOOK_COUNT_; i++)
		gates->targets[i] = head->originals[i] ? base_addr + head->offsets[i] : 0;
}

void gates_bypass_hooks(struct gates *gates, const uint64_t originals[HOOK_COUNT_])
{
	for (size_t i = 0; i < HOOK_COUNT_; i++)
		if (originals[i])
			gates->targets[i] = originals[i];
}
