/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - the stacks of one program's allocations as addresses, before they have names.
 * Plain data.
 */
#ifndef MS_MODEL_STACKS_H
#define MS_MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

struct stack_module {
	char *path;
	uint64_t start, end;  /* of what is executable */
	uint64_t load_bias; /* an address less this is the file's own */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: has none */
};

/* Node 0 has no address and is nobody's child but the outermost frames'. */
struct stack_node {
	uint64_t pc; /* where the call returns to; STACK_PC_CUT: not followed further */
	uint32_t parent; /* who called it; lower than its own number */
	bool is_by_frame; /* its code has no unwind tables: the parent was found by its frame pointer */
	uint32_t module; /* index, or PROFILE_NO_MODULE: where the call is, in any */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

#define STACK_PC_CUT UINT64_C(1)

/* Of one program: from exec, or fork, to its end or the next exec. */
struct stacks {
	int pid;
	unsigned int generation;
	unsigned int known;	/* 1 << metric */
	uint64_t sample_bytes;	/* as in a profile */
	uint64_t sample_count, cut_count;
	uint64_t by_frame_count; /* allocations whose stack has a frame with is_by_frame */
	uint64_t lost_count; /* allocations in no stack, for want of room */
	struct stack_module *modules;
	size_t module_count, module_capacity;
	struct stack_node *nodes;
	size_t node_count, node_capacity;
};

void stacks_release(struct stacks *stacks);

#endif
