/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_abi - the format of the file in which a program's allocations are
 * counted by call stack.
 *
 * The file is PID.N.stacks in the same folder as the program's PID.N (abi.h). It is
 * created when the first allocation is recorded, so a child process that only calls
 * execve() has no file.
 *
 * The file has a header of one page, then modules, then the nodes of the call-stack tree.
 * Each node represents a call stack: it contains the address of the innermost call, and
 * its parent is the node for the rest of the stack. Node 0 is the root. Each thread has
 * its own nodes, so several nodes may have the same address and parent; readers add up
 * their counts. The file has holes, but disk space is allocated before data is written.
 * Readers must not trust the contents.
 */
#ifndef MS_AGENT_COUNT_STACK_ABI_H
#define MS_AGENT_COUNT_STACK_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_FILE_SUFFIX ".stacks"

/*
 * Environment variable that selects what is recorded, as words separated by commas.
 * "live" also records what is still allocated. "sample=BYTES" records on average one
 * allocation per BYTES bytes, chosen at random. "check" unwinds each stack a second time,
 * without reusing the previous stack. If the variable is not set, each allocation is
 * recorded, but not what is still allocated.
 */
#define STACK_MODE_VARIABLE "MEMSTATE_STACKS"

#define STACK_FILE_MAGIC UINT32_C(0x4b53534d) /* "MSSK" */
#define STACK_FILE_VERSION UINT32_C(2)

#define STACK_HEAD_BYTES 4096
#define STACK_MODULES_BYTES (1 << 20)
#define STACK_NODES_OFFSET (STACK_HEAD_BYTES + STACK_MODULES_BYTES)
#define STACK_NODE_BYTES 64
/* Number of low bits in a node's parent_generation that contain the parent's number. */
#define STACK_PARENT_BITS 24
#define STACK_NODE_MAX (1 << STACK_PARENT_BITS)

/*
 * The address in a node if the caller is unknown, because the stack could not be unwound
 * further.
 */
#define STACK_FILE_PC_CUT UINT64_C(1)

/*
 * Flag in the address of a node: the code has no unwind tables, so the caller was found
 * with the frame pointer.
 */
#define STACK_FILE_PC_BY_FRAME (UINT64_C(1) << 63)

/*
 * Estimated counts are stored in fixed point, to preserve fractions: n is stored as n
 * << STACK_SCALE_BITS.
 */
#define STACK_SCALE_BITS 12

/*
 * Maximum number of a thread's live bytes that are not yet in the header's live_bytes. In
 * a program with several threads, each thread adds its live bytes to the header when they
 * exceed this maximum. The error of the peak is therefore at most this many bytes per
 * thread. With a single thread the peak is exact.
 */
#define STACK_FLUSH_BYTES 16384

enum stack_file_flag {
	/* flag: the nodes' members freed_blocks, freed_bytes and peak_bytes are valid */
	STACK_LIVE = 1 << 0,
	STACK_CHECKED = 1 << 1,
};

struct stack_file_head {
	uint32_t magic, version;
	uint32_t head_bytes, node_bytes;
	uint64_t modules_offset, nodes_offset;
	int32_t pid; /* pid in the program's own pid namespace */
	uint32_t flags;
	/* mean number of bytes per sample; 0 if every allocation is recorded */
	uint64_t sample_bytes;
	/*
	 * number of fractional bits of counts: STACK_SCALE_BITS, or 0 if
	 * sample_bytes is 0
	 */
	uint32_t scale_bits;
	uint32_t module_bytes; /* total size of the module records, in bytes */
	/* number of samples; valid if sample_bytes is not 0 */
	uint64_t sample_count;
	/*
	 * Number of allocations that are missing from the nodes because the file was
	 * full; in fixed point if sample_bytes is not 0.
	 */
	uint64_t lost_count;
	uint64_t lost_module_count;
	/*
	 * number of stacks that were unwound a second time for comparison, and number of
	 * mismatches; valid if STACK_CHECKED is set
	 */
	uint64_t checked_count, mismatch_count;
	uint64_t reserved[4];
	/* The members that are written often, in a cache line of their own. */
	/* upper bound on the node numbers in use; some lower numbers may be unused */
	uint32_t node_count;
	uint32_t reserved_count;
	/*
	 * live bytes of all threads, in fixed point, excluding the bytes that each thread
	 * still has in its own pending_bytes
	 */
	int64_t live_bytes;
	int64_t peak_bytes; /* maximum of live_bytes so far */
	/* number of times that live_bytes has reached a new maximum */
	uint64_t peak_generation;
};

/*
 * A mapping of code. The records are in the order in which the code was first seen, and a
 * mapping may replace an earlier one. An address in a node therefore belongs to the last
 * record that contains the address and whose first_node does not exceed the node's
 * number.
 */
struct stack_file_module {
	uint64_t start, end;
	uint64_t load_bias; /* address in the process minus the address in the file */
	uint32_t first_node;
	uint16_t record_bytes; /* size of this record in bytes, a multiple of 8 */
	/* length of the build ID in bytes; 0 if the file has none */
	uint8_t build_id_bytes;
	uint8_t reserved;
	uint8_t build_id[32];
	/*
	 * NUL-terminated path of the file; "[vdso]" for the kernel's vDSO, which is not a
	 * file
	 */
	char path[];
};

/*
 * A node, which represents a call stack. pc is 0 if the node is not in use. The live
 * bytes of the node, in requested sizes, are bytes - freed_bytes, and its live blocks are
 * calls - freed_blocks. In a forked child process, freed_blocks and freed_bytes include
 * the inherited blocks as negative numbers.
 *
 * To find each node's share of the peak, first add up the live bytes of all nodes. If the
 * sum exceeds the header's peak_bytes, the peak is now, and each share is the node's live
 * bytes. Otherwise, if the node's generation equals the header's peak_generation, its
 * share is its peak_bytes. If not, its share is its live bytes, which have not changed
 * since the peak.
 */
struct stack_file_node {
	/* return address of a call, possibly with a flag; or STACK_FILE_PC_CUT */
	uint64_t pc;
	/*
	 * the parent node's number in the low STACK_PARENT_BITS bits, and the node's
	 * generation in the high bits
	 */
	uint64_t parent_generation;
	uint64_t calls;
	uint64_t bytes;
	/* number of blocks that a thread allocated and freed in two consecutive calls */
	uint64_t temporary;
	int64_t freed_blocks, freed_bytes;
	int64_t peak_bytes;
};

static_assert(sizeof(struct stack_file_node) == STACK_NODE_BYTES, "stack_abi version 2");
static_assert(sizeof(struct stack_file_head) <= STACK_HEAD_BYTES, "the head has room");
static_assert(offsetof(struct stack_file_head, pid) == 32, "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, sample_count) == 56,
	      "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, node_count) == 128, "stack_abi version 2");
static_assert(offsetof(struct stack_file_head, peak_generation) == 152,
	      "stack_abi version 2");
static_assert(offsetof(struct stack_file_module, build_id) == 32, "stack_abi version 2");
static_assert(offsetof(struct stack_file_module, path) == 64, "stack_abi version 2");

#endif
