/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_abi - the file in which a program's allocations are counted by their stacks.
 *
 * PID.N.stacks beside the program's PID.N (count_abi.h), made when the first allocation
 * is recorded: a child that only calls exec has none. A head of one page, then modules,
 * then nodes. A stack is a node, its parent is who called it, and node 0 is outside of
 * all. Each thread has nodes of its own, so several may have the same address and parent:
 * they add up. The file has room on the disk for all that is counted in it, and holes.
 * Whoever reads it believes nothing.
 */
#ifndef MS_AGENT_STACK_ABI_H
#define MS_AGENT_STACK_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_FILE_SUFFIX ".stacks"

/*
 * In the environment, what is recorded: words with commas between. "live": what is still
 * allocated, too. "sample=BYTES": one allocation of so many bytes, at random. "check":
 * each stack is found a second time, without what is known of the one before. Without
 * the variable it is each allocation, and nothing else.
 */
#define STACK_MODE_VARIABLE "MEMSTATE_STACKS"

#define STACK_FILE_MAGIC   UINT32_C(0x4b53534d) /* "MSSK" */
#define STACK_FILE_VERSION UINT32_C(2)

#define STACK_HEAD_BYTES    4096
#define STACK_MODULES_BYTES (1 << 20)
#define STACK_NODES_OFFSET  (STACK_HEAD_BYTES + STACK_MODULES_BYTES)
#define STACK_NODE_BYTES    64
/* Of what a node says of its parent these are the parent's number. */
#define STACK_PARENT_BITS   24
#define STACK_NODE_MAX	    (1 << STACK_PARENT_BITS)

/* A node's address where the stack could not be followed further: who called is unknown. */
#define STACK_FILE_PC_CUT UINT64_C(1)

/*
 * Set in a node's address: the code there has no tables, and its caller was found by its
 * frame pointer.
 */
#define STACK_FILE_PC_BY_FRAME (UINT64_C(1) << 63)

/*
 * Of an estimate values are so much larger: a count of n is n << STACK_SCALE_BITS, for
 * fractions.
 */
#define STACK_SCALE_BITS 12

/*
 * A thread of several adds to the head's live_bytes when there is more than so much to
 * add: the moment of the peak is off by that, for each. Where there is one thread it is
 * exact.
 */
#define STACK_FLUSH_BYTES 16384

enum stack_file_flag {
	STACK_LIVE = 1 << 0, /* freed_blocks, freed_bytes, peak_bytes are known */
	STACK_CHECKED = 1 << 1,
};

struct stack_file_head {
	uint32_t magic, version;
	uint32_t head_bytes, node_bytes;
	uint64_t modules_offset, nodes_offset;
	int32_t pid; /* as the program sees it */
	uint32_t flags;
	uint64_t sample_bytes; /* 0: each allocation */
	uint32_t scale_bits;   /* 0 where sample_bytes is */
	uint32_t module_bytes; /* of all modules */
	uint64_t sample_count; /* where sample_bytes is not 0: so many were recorded */
	uint64_t lost_count; /* allocations in no node, for want of room; an estimate is scaled */
	uint64_t lost_module_count;
	uint64_t checked_count, mismatch_count; /* where STACK_CHECKED */
	uint64_t reserved[4];
	/* Written often. */
	uint32_t node_count; /* nodes are below, but not each number is one */
	uint32_t reserved_count;
	int64_t live_bytes; /* scaled, and less what threads have not added yet */
	int64_t peak_bytes; /* the most of it */
	uint64_t peak_generation; /* how often there was more than ever before */
};

/*
 * Where code was mapped. Records follow each other, in the order in which they were seen.
 * One may be where another one was that is gone: an address in a node is of the last that
 * has it and whose first_node is not above the node's number.
 */
struct stack_file_module {
	uint64_t start, end;
	uint64_t load_bias; /* an address less this is the file's own */
	uint32_t first_node;
	uint16_t record_bytes; /* a multiple of 8 */
	uint8_t build_id_bytes; /* 0: has none */
	uint8_t reserved;
	uint8_t build_id[32];
	char path[]; /* ends with 0, within the record; "[vdso]" is no file */
};

/*
 * pc is 0 where there is no node (yet). live_bytes of a node, as allocations asked for
 * them, are bytes - freed_bytes, and blocks calls - freed_blocks: of a forked child,
 * what it has from its parent is in freed_… as less than 0.
 *
 * peak: where the sum of all live_bytes is more than the head's peak_bytes it is now, and
 * of each node what is live. Else of a node whose generation is the head's, it is
 * peak_bytes, and of others what is live, as nothing has changed since.
 */
struct stack_file_node {
	uint64_t pc; /* an address that a call returns to, with a flag, or STACK_FILE_PC_CUT */
	uint64_t parent_generation; /* of the parent the low STACK_PARENT_BITS */
	uint64_t calls;
	uint64_t bytes;
	uint64_t temporary; /* freed with no other call in that thread since */
	int64_t freed_blocks, freed_bytes;
	int64_t peak_bytes;
};

static_assert(sizeof(struct stack_file_node) == STACK_NODE_BYTES, "stack_abi version 2");
static_assert(sizeof(struct stack_file_head) <= STACK_HEAD_BYTES, "the head has room");
static_assert(offsetof(struct stack_file_head, pid) == 32, "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, sample_count) == 56, "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, node_count) == 128, "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, peak_generation) == 152, "stack_abi version 2");
static_assert(offsetof(struct stack_file_module, build_id) == 32, "stack_abi version 2");
static_assert(offsetof(struct stack_file_module, path) == 64, "stack_abi version 2");

#endif
