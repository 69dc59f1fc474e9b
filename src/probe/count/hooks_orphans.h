/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_orphans - find hooks in a process whose memstate was killed before it could
 * remove them, and gates (jumps to hooks) that were left for later hooks. Hooks and gates
 * are recognized by their code, byte for byte, in private memory (private_code). The
 * process could have written their other contents, so memstate does not trust those.
 * memstate instead searches the process's files for the addresses and calls that lead to
 * hooks, and for the original functions.
 */
#ifndef MS_PROBE_COUNT_HOOKS_ORPHANS_H
#define MS_PROBE_COUNT_HOOKS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
#include "base/strbuf.h"
#include "model/mapping.h"
#include "probe/count/hooks_parcel.h"
#include "probe/count/hooks_switch.h"
#include "probe/count/hooks_visit.h"

#define HOOKS_ORPHANS_MAX 8

struct hooks_search {
	/* procfs in which the owner of hooks is looked up */
	const struct procfs *fs;
	const struct mapping_list *mappings; /* mappings of the process */
	int mem_fd;			     /* the process's mem */
	uint64_t own_addr;		     /* address of hooks to ignore, or 0 */
};

/*
 * Find orphaned hooks, sorted by address, and return their number. Hooks whose memstate
 * is alive are skipped. *ret_owner_pid is the pid of such a memstate, -1 if it is in
 * another pid namespace, or 0 if no such memstate was found.
 */
size_t hooks_orphans_find(const struct hooks_search *search,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], int *ret_owner_pid);

/*
 * Append the reason why a process whose hooks have an owner cannot be counted. Returns
 * -EBUSY.
 */
int hooks_orphans_refuse(const struct hooks_search *search, int owner_pid,
			 struct strbuf *why);

/*
 * Return true if the orphaned hooks are still in the process, unchanged
 * and without an owner.
 */
bool hooks_orphans_is_one(const struct hooks_search *search,
			  const struct hooks_orphan *orphan);

/*
 * Redirect all addresses and calls that lead to the orphaned hooks, and check that no
 * thread is executing a hook. After that the hooks may be unmapped. s contains the
 * request and the process's descriptors. Return 0; -EAGAIN if a thread may still be
 * executing a hook; or another -errno.
 */
int hooks_orphan_disarm(struct hooks_switch *s, const struct hooks_search *search,
			uint64_t base_addr);

/*
 * Find gates (jumps to hooks) in the process. Return their address and a copy of them,
 * which the caller frees, or 0 if there are no gates.
 */
uint64_t hooks_orphans_find_gates(const struct hooks_search *search, struct gates **ret);

#endif
