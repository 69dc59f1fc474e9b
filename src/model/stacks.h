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
	uint64_t start, end; /* the executable part */
	/* Subtract it from an address to get the address in the file. */
	uint64_t load_bias;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: has none */
};

/* Node 0 is the root: it has no address and is the parent of the outermost frames. */
struct stack_node {
	uint64_t pc; /* return address of the call; STACK_PC_CUT: not followed further */
	uint32_t parent; /* the caller; lower than the node's own number */
	/* Its code has no unwind tables; the parent was found by frame pointer. */
	bool is_by_frame;
	uint32_t module; /* module of the call, or PROFILE_NO_MODULE */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

#define STACK_PC_CUT UINT64_C(1)

/*
 * The stacks of one program: a process from exec or fork until it ends or calls exec
 * again.
 */
struct stacks {
	int pid;
	unsigned int generation;
	unsigned int known;    /* 1 << metric */
	uint64_t sample_bytes; /* as in struct profile */
	uint64_t sample_count, cut_count;
	uint64_t by_frame_count; /* allocations whose stack has an is_by_frame node */
	uint64_t lost_count;	 /* allocations in no stack, for lack of room */
	struct stack_module *modules;
	size_t module_count, module_capacity;
	struct stack_node *nodes;
	size_t node_count, node_capacity;
};

void stacks_release(struct stacks *stacks);

#endif
