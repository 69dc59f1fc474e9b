/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_visit - inject the hooks and their data into a process, or remove them, by having
 * a thread of the process make system calls. The hooks are not called until places are
 * patched to point to them.
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
	/* hooks_install() fills in the addresses in the parcel */
	struct hooks_parcel *parcel;
	/* descriptors of /proc/PID and of /proc/PID/mem, which is open for writing */
	int process_fd, mem_fd;
	/* address of the hooks in the process; 0: not in the process */
	uint64_t base_addr;
	uint64_t gates_addr; /* 0: none */
	/* hooks_install() made the gates; false: they were already in the process */
	bool has_own_gates;
	/* the gates must stay, because the program may have taken the address of one */
	bool keeps_gates;
	/*
	 * Address range of the call sites that must be near the gates; 0, 0: none.
	 * hooks_visit_set_sites() sets the range and gates_hint_addr.
	 */
	uint64_t sites_addr, sites_end_addr;
	uint64_t gates_hint_addr; /* address to map new gates at; 0: anywhere */
	/* orphans to be unmapped; no patched place points to them now */
	const struct hooks_orphan *orphans;
	size_t orphan_count;
	/* cost of the last injection or removal */
	struct probe_cost cost;
	const char *reason; /* why the last visit failed; a static string */
};

/*
 * Note which call sites have to reach the gates. Return false if the gates already in
 * the process are too far away.
 */
bool hooks_visit_set_sites(struct hooks_visit *visit, const struct hook_places *places,
			   const struct mapping_list *mappings);

/*
 * hooks_install() injects the hooks; hooks_remove() removes them. Return 0 or -errno.
 * If hooks_install() fails, it removes everything again. But if the thread's last system
 * call may still be running, nothing is removed, and base_addr is not 0.
 */
int hooks_install(struct hooks_visit *visit);
int hooks_remove(struct hooks_visit *visit);

#endif
