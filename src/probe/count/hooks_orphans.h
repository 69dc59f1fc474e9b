/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_orphans - find hooks that remained in a process because memstate was killed
 * before it could remove them, and gates (jumps to hooks) that were left for later hooks.
 *
 * memstate recognizes hooks and gates by comparing their code, in private memory, byte
 * for byte (private_code). It does not trust their other contents, which the process
 * could have written. Instead, memstate searches the executables and libraries in the
 * memory of the process for calls that lead to hooks, and for the functions that the
 * hooks replace.
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
	/* procfs in which to look up the memstate that owns the hooks */
	const struct procfs *fs;
	const struct mapping_list *mappings; /* mappings of the process */
	/* descriptor of the process's /proc/PID/mem */
	int mem_fd;
	uint64_t own_addr; /* address of hooks that the search must ignore, or 0 */
};

/*
 * Find orphaned hooks, sorted by address, and return their number. Skip hooks if the
 * memstate process that injected them, their owner, is alive. *ret_owner_pid is the pid
 * of the owner of skipped hooks, -1 if the owner is in another pid namespace, or 0 if no
 * hooks were skipped.
 */
size_t hooks_orphans_find(const struct hooks_search *search,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], int *ret_owner_pid);

/*
 * Append the reason why memstate cannot count: another memstate owns hooks in the
 * process. Return -EBUSY.
 */
int hooks_orphans_refuse(const struct hooks_search *search, int owner_pid,
			 struct strbuf *why);

/*
 * Return true if the orphaned hooks are still in the process, unchanged and without a
 * living owner.
 */
bool hooks_orphans_is_one(const struct hooks_search *search,
			  const struct hooks_orphan *orphan);

/*
 * Redirect all function addresses and calls that lead to the orphaned hooks, and check
 * that no thread is executing a hook. The caller may then unmap the hooks. s contains the
 * request and the descriptors of the process. Return 0; -EAGAIN if a thread may still be
 * executing a hook; or another -errno.
 */
int hooks_orphan_disarm(struct hooks_switch *s, const struct hooks_search *search,
			uint64_t base_addr);

/*
 * Find gates (jumps to hooks) in the process. Return their address, or 0 if there are
 * none. The function stores a copy of the gates in *ret, which the caller frees.
 */
uint64_t hooks_orphans_find_gates(const struct hooks_search *search, struct gates **ret);

#endif
