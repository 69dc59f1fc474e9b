/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_parcel - memstate's copy of everything that agent/count/hooks.h describes. The
 * code, the list of places, the modules and the gates are copied to private memory of
 * the process. The counts and the nodes are segments that the process attaches.
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
	 * copy of everything before the counts, HOOKS_COUNTS_OFFSET bytes; NULL: the
	 * parcel was not made
	 */
	struct hooks_head *head;
	struct gates *gates; /* NULL: none yet */
	void *counts;
	struct stack_file_head *nodes; /* NULL: no call stacks are recorded */
	int counts_segment, nodes_segment;
	uid_t user; /* effective user of the process */
	/*
	 * The module records of a stack file, which follow its header. They are kept in
	 * memory that the process cannot write.
	 */
	uint8_t *module_records; /* STACK_MODULES_BYTES */
	uint32_t module_record_bytes;
};

#define HOOKS_PARCEL_INIT                                  \
	{                                                  \
		NULL, NULL, NULL, NULL, -1, -1, 0, NULL, 0 \
	}

/* Return the number of bytes that the hooks and their data occupy in the process. */
uint64_t hooks_parcel_bytes(const struct hooks_parcel *parcel);

/*
 * Make the hooks' parcel for a process, with an empty list of places. fs is the /proc of
 * memstate and the process. Return 0; -EOPNOTSUPP if memstate was built without the
 * hooks; or another -errno.
 */
struct hooks_wanted {
	const struct procfs *fs;
	int pid;
	bool has_stacks;
	/* mean bytes between stacks; 0: record the stack of each allocation */
	uint64_t sample_bytes;
};
int hooks_parcel_make(const struct hooks_wanted *wanted, int process_fd,
		      const struct hook_places *places, struct hooks_parcel *ret);

/* Make gates (jumps to hooks) that have no targets yet. The caller frees them. */
struct gates *gates_make(void);

/* Free memstate's copy of the parcel; this changes nothing in the process. */
void hooks_parcel_release(struct hooks_parcel *parcel);

/*
 * hooks_parcel_allow() allows the process to attach the segments; hooks_parcel_revoke()
 * revokes the permission. Return 0 or -errno.
 */
int hooks_parcel_allow(const struct hooks_parcel *parcel);
void hooks_parcel_revoke(const struct hooks_parcel *parcel);

struct hooks_modules *hooks_parcel_modules(const struct hooks_parcel *parcel);

/*
 * gates_use_hooks() makes the gates jump to the hooks at base_addr. gates_bypass_hooks()
 * makes them jump to the original functions.
 */
void gates_use_hooks(struct gates *gates, const struct hooks_head *head,
		     uint64_t base_addr);
void gates_bypass_hooks(struct gates *gates, const uint64_t originals[HOOK_COUNT_]);

/*
 * Return true if the process has hooks, or gates, at addr, with the same code as
 * memstate would write, byte for byte. *ret is set to the parts that may differ: the
 * fields of the head that memstate fills in, and the gates' targets.
 */
bool hooks_exist(int mem_fd, uint64_t addr, struct hooks_head *ret);
bool gates_exist(int mem_fd, uint64_t addr, struct gates *ret);

#endif
