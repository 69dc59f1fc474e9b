/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_parcel - all of agent/count_hooks.h as memstate has it. Code, the list of places,
 * modules and gates are memstate's own copies of what it writes into private memory of
 * the process; counts and nodes are segments that the process attaches.
 */
#ifndef MS_PROBE_HOOKS_PARCEL_H
#define MS_PROBE_HOOKS_PARCEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/count_hooks.h"
#include "probe/hook_places.h"
#include "proc/procfs.h"

struct hooks_parcel {
	struct hooks_head *head; /* HOOKS_COUNTS_OFFSET bytes; NULL: it is not there */
	struct gates *gates;	 /* NULL: none yet */
	void *counts;
	struct stack_file_head *nodes; /* NULL: no stacks are taken */
	int counts_segment, nodes_segment;
	uid_t user; /* the process's */
	/* what nodes would have behind its head, but where the process could write it */
	uint8_t *module_records; /* STACK_MODULES_BYTES */
	uint32_t module_record_bytes;
};

#define HOOKS_PARCEL_INIT { NULL, NULL, NULL, NULL, -1, -1, 0, NULL, 0 }

/* How many bytes it takes in the process. */
uint64_t hooks_parcel_bytes(const struct hooks_parcel *parcel);

/*
 * Make it for that process, with no places yet. fs is the /proc of both. Returns 0,
 * -EOPNOTSUPP if this memstate was built without the hooks, or -errno.
 */
struct hooks_wanted {
	const struct procfs *fs;
	int pid;
	bool has_stacks;
	uint64_t sample_bytes; /* 0: each allocation's */
};
int hooks_parcel_make(const struct hooks_wanted *wanted, int process_fd,
		      const struct hook_places *places, struct hooks_parcel *ret);

/* Gates that lead nowhere yet. The caller frees them. */
struct gates *gates_make(void);

/* Neither takes it from the process. */
void hooks_parcel_release(struct hooks_parcel *parcel);

/* Let the process attach the segments, and take that right away again. 0 or -errno. */
int hooks_parcel_lend(const struct hooks_parcel *parcel);
void hooks_parcel_reclaim(const struct hooks_parcel *parcel);

struct hooks_modules *hooks_parcel_modules(const struct hooks_parcel *parcel);

/* The gates lead to the hooks, where the process has these at base_addr; or past them. */
void gates_lead_to_hooks(struct gates *gates, const struct hooks_head *head, uint64_t base_addr);
void gates_lead_past(struct gates *gates, const uint64_t originals[HOOK_COUNT_]);

/*
 * Does the process have hooks at addr, or gates, byte for byte as memstate would write
 * them? What may differ is in *ret: the part of the head that memstate fills in; the
 * targets.
 */
bool hooks_are_there(int mem_fd, uint64_t addr, struct hooks_head *ret);
bool gates_are_there(int mem_fd, uint64_t addr, struct gates *ret);

#endif
