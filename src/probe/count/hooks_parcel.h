/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_parcel - memstate's copy of the code and data that it injects to count calls (see
 * agent/count/hooks.h). In the process, the code, the list of patched addresses, the
 * modules and the gates are in private memory. The counts and the nodes of the call-stack
 * tree are in shared memory segments that the process attaches.
 */
#ifndef MS_PROBE_COUNT_HOOKS_PARCEL_H
#define MS_PROBE_COUNT_HOOKS_PARCEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/count/hooks.h"
#include "probe/count/hook_places.h"
#include "proc/system/procfs.h"

struct hooks_parcel {
	/*
	 * copy of the hooks' memory up to the counts (HOOKS_COUNTS_OFFSET bytes), or NULL
	 */
	struct hooks_head *head;
	/*
	 * memstate's copy of the gates (jumps to hooks); NULL if there are no gates yet
	 */
	struct gates *gates;
	void *counts;
	/*
	 * header and nodes of the call-stack tree, in the format of a stack file; NULL if
	 * no call stacks are recorded
	 */
	struct stack_file_head *nodes;
	int counts_segment, nodes_segment;
	uid_t user; /* effective user id of the process */
	/*
	 * The module records, which follow the header in a stack file. They are in
	 * STACK_MODULES_BYTES bytes of memstate's private memory, where the process
	 * cannot change them.
	 */
	uint8_t *module_records; /* buffer of STACK_MODULES_BYTES bytes */
	uint32_t module_record_bytes;
};

#define HOOKS_PARCEL_INIT                                  \
	{                                                  \
		NULL, NULL, NULL, NULL, -1, -1, 0, NULL, 0 \
	}

/* Return the number of bytes that the hooks and their data occupy in the process. */
uint64_t hooks_parcel_bytes(const struct hooks_parcel *parcel);

/*
 * Create the hooks and their data for a process, with an empty list of patched addresses.
 * fs is a procfs that shows both memstate and the process. Return 0; -EOPNOTSUPP if
 * memstate was built without hooks; or another -errno.
 */
struct hooks_wanted {
	const struct procfs *fs;
	int pid;
	bool has_stacks;
	/*
	 * mean number of bytes between recorded stacks; 0 to record the stack of each
	 * allocation
	 */
	uint64_t sample_bytes;
};
int hooks_parcel_make(const struct hooks_wanted *wanted, int process_fd,
		      const struct hook_places *places, struct hooks_parcel *ret);

/* Create gates (jumps to hooks) that have no targets yet. The caller frees them. */
struct gates *gates_make(void);

/* Free memstate's copy of the hooks and their data. The process is not changed. */
void hooks_parcel_release(struct hooks_parcel *parcel);

/*
 * hooks_parcel_allow() allows the process to attach the segments, and returns 0 or
 * -errno. hooks_parcel_revoke() withdraws the permission.
 */
int hooks_parcel_allow(const struct hooks_parcel *parcel);
void hooks_parcel_revoke(const struct hooks_parcel *parcel);

struct hooks_modules *hooks_parcel_modules(const struct hooks_parcel *parcel);

/*
 * gates_use_hooks() makes the gates jump to the hooks at base_addr.
 * gates_bypass_hooks() makes the gates jump to the original functions, so that the
 * hooks are no longer called.
 */
void gates_use_hooks(struct gates *gates, const struct hooks_head *head,
		     uint64_t base_addr);
void gates_bypass_hooks(struct gates *gates, const uint64_t originals[HOOK_COUNT_]);

/*
 * Return true if the process has hooks, or gates (jumps to hooks), at addr, and their
 * code is byte for byte what this memstate would write. The functions store in *ret the
 * parts that may differ: the variable members of the header, or the targets of the gates.
 */
bool hooks_exist(int mem_fd, uint64_t addr, struct hooks_head *ret);
bool gates_exist(int mem_fd, uint64_t addr, struct gates *ret);

#endif
