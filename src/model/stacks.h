/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the allocation call stacks of one program as addresses, before symbols
 * are resolved. Plain data.
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
	/* The difference between an address in memory and the address in the file. */
	uint64_t load_bias;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: the module has no build ID */
};

/*
 * A stack: its innermost call, and the node of its caller. Node 0 is the root: it has no
 * address and is the parent of the outermost calls.
 */
struct stack_node {
	/* Return address of the call; STACK_PC_CUT: the stack is truncated here. */
	uint64_t pc;
	uint32_t parent; /* node of the caller, which has a lower number than this node */
	/* The code has no unwind tables; the parent was found with the frame pointer. */
	bool is_by_frame;
	uint32_t module; /* module that contains pc, or PROFILE_NO_MODULE */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

#define STACK_PC_CUT UINT64_C(1)

/*
 * The stacks of one program: what a process runs from exec or fork
 * until it ends or calls exec again.
 */
struct stacks {
	int pid;
	unsigned int generation;
	unsigned int known;    /* bit N: metric N (enum profile_metric) is known */
	uint64_t sample_bytes; /* same meaning as in struct profile */
	uint64_t sample_count, cut_count;
	/* Number of allocations whose stack has a node with is_by_frame set. */
	uint64_t by_frame_count;
	/* Allocations missing from all stacks because there was no room. */
	uint64_t lost_count;
	struct stack_module *modules;
	size_t module_count, module_capacity;
	struct stack_node *nodes;
	size_t node_count, node_capacity;
};

void stacks_release(struct stacks *stacks);

#endif
