/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_visit - inject the hooks and their data into a process, or remove them. To do
 * so, memstate makes a thread of the process execute system calls. Injected hooks have
 * no effect until calls to malloc have been redirected to them.
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
	/* the hooks and their data; hooks_install() stores the addresses here */
	struct hooks_parcel *parcel;
	/* descriptors of /proc/PID and of /proc/PID/mem; mem_fd is open for writing */
	int process_fd, mem_fd;
	/* address of the hooks in the process; 0 if there are no hooks */
	uint64_t base_addr;
	/* address of the gates (jumps to hooks); 0 if there are no gates */
	uint64_t gates_addr;
	/*
	 * true if hooks_install() created the gates (jumps to hooks); false if they were
	 * already in the process
	 */
	bool has_own_gates;
	/*
	 * true if the gates (jumps to hooks) must remain in the process, because the
	 * program may have copied the address of a gate
	 */
	bool keeps_gates;
	/*
	 * Address range of the call sites, which must be near the gates (jumps to hooks);
	 * both 0 if there are no call sites. hooks_visit_set_sites() sets these members
	 * and gates_hint_addr.
	 */
	uint64_t sites_addr, sites_end_addr;
	/*
	 * address at which to map new gates (jumps to hooks); 0 if
	 * any address is suitable
	 */
	uint64_t gates_hint_addr;
	/* orphaned hooks to unmap; no patched call leads to them any longer */
	const struct hooks_orphan *orphans;
	size_t orphan_count;
	/* cost of the last injection or removal */
	struct probe_cost cost;
	const char *reason; /* why the last call failed; a static string */
};

/*
 * Set the call sites that the gates (jumps to hooks) must be near. Return false if the
 * gates that are already in the process are too far away.
 */
bool hooks_visit_set_sites(struct hooks_visit *visit, const struct hook_places *places,
			   const struct mapping_list *mappings);

/*
 * hooks_install() injects the hooks; hooks_remove() removes them. Return 0 or -errno. If
 * hooks_install() fails, it removes everything that it has injected. However, it removes
 * nothing if the thread's last system call may still be running; base_addr is then not 0.
 */
int hooks_install(struct hooks_visit *visit);
int hooks_remove(struct hooks_visit *visit);

#endif
