/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_stacks - support for the call stacks that the hooks record: provide the hooks
 * with a list of the process's code, and read the stacks.
 */
#ifndef MS_PROBE_COUNT_HOOKS_STACKS_H
#define MS_PROBE_COUNT_HOOKS_STACKS_H

#include <stdint.h>

#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count/hooks_parcel.h"

struct hooks_stacks {
	const struct hooks_wanted *wanted;
	/* the hooks' memory, including the nodes of the call-stack tree */
	struct hooks_parcel *parcel;
	/* descriptors of /proc/PID and /proc/PID/mem; mem_fd is open for writing */
	int process_fd, mem_fd;
	uint64_t base_addr; /* address of the hooks in the process */
	/* end address of the main thread's stack; set by hooks_stacks_update() */
	uint64_t main_stack_end;
};

/*
 * Update the process's list of modules: add new mappings, and mark mappings that no
 * longer exist. Return 0, or -errno if the list may be incomplete.
 */
int hooks_stacks_update(struct hooks_stacks *stacks, const struct mapping_list *mappings);

/*
 * Write the settings for recording stacks to the struct hooks_private at private_addr in
 * the process. Return 0 or -errno.
 */
int hooks_stacks_fill(const struct hooks_stacks *stacks, uint64_t private_addr);

/*
 * Like stacks_read(), but read the call-stack tree that the hooks store in their memory.
 */
int hooks_stacks_read(const struct hooks_stacks *stacks, struct stacks *ret);

#endif
