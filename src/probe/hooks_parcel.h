/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_parcel - all of agent/count_hooks.h as memstate has it: segments that the process
 * attaches, the first of them as large as all, so that the others come to lie in it.
 */
#ifndef MS_PROBE_HOOKS_PARCEL_H
#define MS_PROBE_HOOKS_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/count_hooks.h"
#include "probe/hook_places.h"
#include "proc/procfs.h"

struct hooks_parcel {
	struct hooks_head *head; /* the code; NULL: it is not there */
	void *counts;
	struct stack_file_head *nodes; /* NULL: no stacks are taken */
	struct gates *gates;
	int code_segment, counts_segment, nodes_segment, gates_segment;
};

#define HOOKS_PARCEL_INIT { NULL, NULL, NULL, NULL, -1, -1, -1, -1 }

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
int hooks_parcel_make(const struct hooks_wanted *wanted, const struct hook_places *places,
		      struct hooks_parcel *ret);
/* Where the process has no gates from an earlier time. 0 or -errno. */
int hooks_parcel_make_gates(const struct procfs *fs, int pid, struct hooks_parcel *parcel);

/* Neither takes it from the process. */
void hooks_parcel_release(struct hooks_parcel *parcel);

struct hooks_record *hooks_parcel_records(const struct hooks_parcel *parcel);

/* The gates lead to the hooks, where the process has these at base_addr; or past them. */
void gates_lead_to_hooks(struct gates *gates, const struct hooks_head *head, uint64_t base_addr);
void gates_lead_past(struct gates *gates, const struct hooks_head *head);

#endif
