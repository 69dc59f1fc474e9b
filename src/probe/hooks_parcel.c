/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/hooks_parcel.h"

#include <errno.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/blob.h"
#include "agent/stack_file.h"
#include "probe/machine.h"
#include "probe/segment.h"
#include "proc/proc_stat.h"

static void fill_counts(struct count_head *head, int pid, const struct hook_places *places)
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

/* So that another memstate can tell whether this one is still there. */
static void sign(const struct procfs *fs, struct hooks_head *head)
{
	struct process process;
	struct stat st;

	head->owner_pid = (uint64_t)getpid();
	if (proc_stat_read(fs, getpid(), &process) == 0)
		head->owner_start_ticks = process.start_ticks;
	if (stat("/proc/self/ns/pid", &st) == 0)
		head->owner_namespace = st.st_ino;
}

static int fill_code(const struct procfs *fs, struct hooks_head *head,
		     const struct hook_places *places)
{
	size_t bytes;
	const void *hooks = agent_hooks(&bytes);

	if (!hooks)
		return -EOPNOTSUPP;
	if (bytes < sizeof(*head) || bytes > HOOKS_CODE_BYTES)
		return -E2BIG;
	memcpy(head, hooks, bytes);
	memcpy(head->originals, places->originals, sizeof(places->originals));
	sign(fs, head);
	return head->hook_count == HOOK_COUNT_ ? 0 : -E2BIG;
}

static void fill_nodes(struct stack_file_head *head, const struct hooks_wanted *wanted)
{
	struct stack_file_node *nodes =
		(void *)((uint8_t *)head + STACK_NODES_OFFSET);

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

int hooks_parcel_make(const struct hooks_wanted *wanted, const struct hook_places *places,
		      struct hooks_parcel *ret)
{
	struct hooks_parcel parcel = HOOKS_PARCEL_INIT;
	uid_t uid = proc_stat_read_uid(wanted->fs, wanted->pid);
	void *code = NULL, *nodes = NULL;
	int r;

	/* of what lies behind the modules nothing is ever used */
	r = segment_make(wanted->has_stacks ? HOOKS_ALL_BYTES : HOOKS_BYTES, uid, SHM_NORESERVE,
			 &parcel.code_segment, &code);
	parcel.head = code;
	if (r == 0)
		r = segment_make(HOOKS_COUNTS_BYTES, uid, 0, &parcel.counts_segment,
				 &parcel.counts);
	if (r == 0 && wanted->has_stacks)
		r = segment_make(HOOKS_NODES_BYTES, uid, 0, &parcel.nodes_segment, &nodes);
	parcel.nodes = nodes;
	if (r == 0)
		r = fill_code(wanted->fs, parcel.head, places);
	if (r < 0) {
		hooks_parcel_release(&parcel);
		return r;
	}
	fill_counts(parcel.counts, wanted->pid, places);
	if (parcel.nodes)
		fill_nodes(parcel.nodes, wanted);
	*ret = parcel;
	return 0;
}

int hooks_parcel_make_gates(const struct procfs *fs, int pid, struct hooks_parcel *parcel)
{
	struct gates *gates;
	void *memory;
	int r;

	r = segment_make(GATES_BYTES, proc_stat_read_uid(fs, pid), 0, &parcel->gates_segment, &memory);
	if (r < 0)
		return r;
	gates = parcel->gates = memory;
	gates->magic = GATES_MAGIC;
	gates->version = HOOKS_VERSION;
	for (size_t i = 0; i < HOOK_MAX; i++) {
		size_t code_offset = offsetof(struct gates, code) + i * GATE_BYTES;
		size_t target_offset = offsetof(struct gates, targets) + i * sizeof(uint64_t);

		(void)machine_jump((int32_t)target_offset - (int32_t)code_offset,
				   gates->code[i]);
	}
	return 0;
}

void hooks_parcel_release(struct hooks_parcel *parcel)
{
	if (parcel->head)
		shmdt(parcel->head);
	if (parcel->counts)
		shmdt(parcel->counts);
	if (parcel->nodes)
		shmdt(parcel->nodes);
	if (parcel->gates)
		shmdt(parcel->gates);
	*parcel = (struct hooks_parcel)HOOKS_PARCEL_INIT;
}

struct hooks_record *hooks_parcel_records(const struct hooks_parcel *parcel)
{
	return (struct hooks_record *)(void *)((uint8_t *)parcel->head + HOOKS_CODE_BYTES);
}

void gates_lead_to_hooks(struct gates *gates, const struct hooks_head *head, uint64_t base_addr)
{
	for (size_t i = 0; i < HOOK_COUNT_; i++)
		__atomic_store_n(&gates->targets[i],
				 head->originals[i] ? base_addr + head->offsets[i] : 0,
				 __ATOMIC_SEQ_CST);
}

void gates_lead_past(struct gates *gates, const struct hooks_head *head)
{
	for (size_t i = 0; i < HOOK_COUNT_; i++)
		if (head->originals[i])
			__atomic_store_n(&gates->targets[i], head->originals[i],
					 __ATOMIC_SEQ_CST);
}
