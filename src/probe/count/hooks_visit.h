/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_visit - put the parcel with the hooks into a process, and remove it, by system
 * calls of one of its threads. The hooks do nothing until places lead to them.
 */
#ifndef MS_PROBE_COUNT_HOOKS_VISIT_H
#define MS_PROBE_COUNT_HOOKS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/borrow/landmarks.h"
#include "probe/count/hooks_parcel.h"
#include "probe/helper/probe.h"

struct hooks_orphan {
	uint64_t addr, bytes;
};

struct hooks_visit {
	const struct probe_request *request;
	const struct landmarks *marks;
	struct hooks_parcel *parcel; /* the addresses in the parcel are filled in */
	/* the process's directory in /proc, and its mem, opened for writing */
	int process_fd, mem_fd;
	uint64_t base_addr;  /* address of the hooks in the process; 0: not there */
	uint64_t gates_addr; /* 0: none */
	bool has_own_gates;  /* the gates were not there before */
	bool keeps_gates;    /* the program may have taken the address of a gate */
	/* set by hooks_visit_set_sites(): */
	uint64_t sites_addr,
		sites_end_addr;	  /* code that the gates have to be near; 0, 0: none */
	uint64_t gates_hint_addr; /* where there is room near it; 0: anywhere */
	/* orphans to be unmapped; nothing leads to them any more */
	const struct hooks_orphan *orphans;
	size_t orphan_count;
	/* cost of the last visit */
	struct probe_cost cost;
	const char *reason; /* why the last visit failed; static */
};

/*
 * Note which call sites new gates have to be near. Returns false if the gates that are
 * there already are too far away.
 */
bool hooks_visit_set_sites(struct hooks_visit *visit, const struct hook_places *places,
			   const struct mapping_list *mappings);

/*
 * Put the hooks in, and remove them. Return 0 or -errno. If hooks_put_in() fails, it
 * removes everything again, unless it is unknown whether the thread's call has
 * ended: then base_addr is not 0.
 */
int hooks_put_in(struct hooks_visit *visit);
int hooks_take_out(struct hooks_visit *visit);

#endif
