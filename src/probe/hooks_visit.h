/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_visit - bring the parcel with the hooks into a process, and out again, by system
 * calls of one of its threads. The hooks do nothing until places lead to them.
 */
#ifndef MS_PROBE_HOOKS_VISIT_H
#define MS_PROBE_HOOKS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/hooks_parcel.h"
#include "probe/landmarks.h"
#include "probe/probe.h"

struct hooks_orphan {
	uint64_t addr, bytes;
};

struct hooks_visit {
	const struct probe_request *request;
	const struct landmarks *marks;
	struct hooks_parcel *parcel; /* the addresses in it are filled in */
	int process_fd, mem_fd; /* its directory in /proc, and its mem, opened for writing */
	uint64_t base_addr;	/* where it has the hooks; 0: it has not */
	uint64_t gates_addr;	/* 0: none */
	bool has_own_gates;	/* that were not there before */
	bool keeps_gates;	/* an address of one may have been taken */
	const struct hooks_orphan *orphans; /* that nothing leads to any more, to be taken out */
	size_t orphan_count;
	/* of the last visit */
	struct probe_cost cost;
	const char *reason; /* why it failed; static */
};

/*
 * Return 0 or -errno. What failed in hooks_put_in() is out again, unless the thread is
 * not known to have come back: base_addr says so.
 */
int hooks_put_in(struct hooks_visit *visit);
int hooks_take_out(struct hooks_visit *visit);

#endif
