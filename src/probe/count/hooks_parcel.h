/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_parcel - everything of agent/count/hooks.h on memstate's side. The code, the list
 * of places, the modules and the gates are copies of what memstate writes to private
 * memory of the process; the counts and the nodes are segments that the process attaches.
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
	struct hooks_head *head; /* HOOKS_COUNTS_OFFSET bytes; NULL: no parcel */
	struct gates *gates;	 /* NULL: none yet */
	void *counts;
	struct stack_file_head *nodes; /* NULL: no stacks are taken */
	int counts_segment, nodes_segment;
	uid_t user; /* effective user of the process */
	/*
	 * The module records that a stack file has after its header. They are kept where
	 * the process cannot write to them.
	 */
	uint8_t *module_records; /* STACK_MODULES_BYTES */
	uint32_t module_record_bytes;
};

#define HOOKS_PARCEL_INIT                                  \
	{                                                  \
		NULL, NULL, NULL, NULL, -1, -1, 0, NULL, 0 \
	}

/* Return the size of the range in the process. */
uint64_t hooks_parcel_bytes(const struct hooks_parcel *parcel);

/*
 * Make a parcel for a process, without places. fs is the /proc of both. Return 0,
 * -EOPNOTSUPP if memstate was built without the hooks, or -errno.
 */
struct hooks_wanted {
	const struct procfs *fs;
	int pid;
	bool has_stacks;
	uint64_t sample_bytes; /* 0: take a stack at each allocation */
};
int hooks_parcel_make(const struct hooks_wanted *wanted, int process_fd,
		      const struct hook_places *places, struct hooks_parcel *ret);

/* Make gates that lead nowhere yet. The caller frees them. */
struct gates *gates_make(void);

/* Free the parcel; nothing changes in the process. */
void hooks_parcel_release(struct hooks_parcel *parcel);

/* Let the process attach the segments, and revoke that right. Return 0 or -errno. */
int hooks_parcel_lend(const struct hooks_parcel *parcel);
void hooks_parcel_reclaim(const struct hooks_parcel *parcel);

struct hooks_modules *hooks_parcel_modules(const struct hooks_parcel *parcel);

/* Make the gates lead to the hooks at base_addr; or past them, to the originals. */
void gates_lead_to_hooks(struct gates *gates, const struct hooks_head *head,
			 uint64_t base_addr);
void gates_lead_past(struct gates *gates, const uint64_t originals[HOOK_COUNT_]);

/*
 * Return whether the process has hooks, or gates, at addr, byte for byte as memstate
 * would write them. The parts that may differ are stored in *ret: the fields of the head
 * that memstate fills in, and the targets.
 */
bool hooks_are_there(int mem_fd, uint64_t addr, struct hooks_head *ret);
bool gates_are_there(int mem_fd, uint64_t addr, struct gates *ret);

#endif
