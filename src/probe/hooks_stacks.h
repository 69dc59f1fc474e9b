/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_stacks - stacks that hooks take in a process: what they are told, from outside,
 * of the code there, and what they have taken.
 */
#ifndef MS_PROBE_HOOKS_STACKS_H
#define MS_PROBE_HOOKS_STACKS_H

#include <stdint.h>

#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/hooks_parcel.h"

struct hooks_stacks {
	const struct hooks_wanted *wanted;
	struct hooks_parcel *parcel; /* with nodes */
	int process_fd, mem_fd;	     /* the latter opened for writing */
	uint64_t base_addr;	     /* where the process has the hooks */
	uint64_t main_stack_end; /* set by hooks_stacks_look() */
};

/* What is mapped now, and what is not any more. 0 or -errno: not all may be known. */
int hooks_stacks_look(struct hooks_stacks *stacks, const struct mapping_list *mappings);

/* Tell it the rest, in its struct hooks_private at this address. 0 or -errno. */
int hooks_stacks_fill(const struct hooks_stacks *stacks, uint64_t private_addr);

/* As stacks_read(). */
int hooks_stacks_read(const struct hooks_stacks *stacks, struct stacks *ret);

#endif
