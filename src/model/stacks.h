/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the allocation call stacks of one program as addresses that have not been
 * resolved to symbols. Plain data.
 */
#ifndef MS_MODEL_STACKS_H
#define MS_MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

struct stack_module {
	char *path;
	uint64_t start, end; /* address range of the executable mapping */
	/* Address in memory minus the corresponding virtual address in the file. */
	uint64_t load_bias;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	/* length of the build ID in bytes; 0 if the module has none */
	size_t build_id_bytes;
};

/*
 * A stack: its innermost call, and the node of its caller. Node 0 is the root: it has no
 * address and is the parent of the outermost calls.
 */
struct stack_node {
	/* Return address of the call, or STACK_PC_CUT if the stack is truncated here. */
	uint64_t pc;
	/* node of the caller, whose number is lower than that of this node */
	uint32_t parent;
	/*
	 * True if the code has no unwind tables, so the parent was found with
	 * the frame pointer.
	 */
	bool is_by_frame;
	uint32_t module; /* module that contains pc, or PROFILE_NO_MODULE */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

#define STACK_PC_CUT UINT64_C(1)

/*
 * The stacks of one program: the code that a process runs from its start, or from an
 * execve(), until the process exits or calls execve() again.
 */
struct stacks {
	int pid;
	unsigned int generation;
	/* set of the known metrics: bit 1 << metric (enum profile_metric) */
	unsigned int known;
	/* mean number of bytes per sample; 0 if every allocation was recorded */
	uint64_t sample_bytes;
	uint64_t sample_count, cut_count;
	/* Number of allocations whose stack contains a node with is_by_frame set. */
	uint64_t by_frame_count;
	/* Number of allocations whose stacks were not recorded for lack of space. */
	uint64_t lost_count;
	struct stack_module *modules;
	size_t module_count, module_capacity;
	struct stack_node *nodes;
	size_t node_count, node_capacity;
};

void stacks_release(struct stacks *stacks);

#endif
