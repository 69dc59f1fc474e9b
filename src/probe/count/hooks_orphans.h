/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_orphans - hooks in a process whose memstate was killed before it could remove
 * them; and gates that were left there for later hooks.
 *
 * Both are recognized by their code, byte for byte, in private memory
 * (private_code). The process could have written the rest of their contents, so
 * memstate does not trust it: the places that lead to hooks, and the original
 * functions, are found anew in the process's files.
 */
#ifndef MS_PROBE_COUNT_HOOKS_ORPHANS_H
#define MS_PROBE_COUNT_HOOKS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
#include "model/mapping.h"
#include "probe/count/hooks_parcel.h"
#include "probe/count/hooks_switch.h"
#include "probe/count/hooks_visit.h"

#define HOOKS_ORPHANS_MAX 8

struct hooks_look {
	const struct procfs *fs;	     /* our own /proc, to find the owner */
	const struct mapping_list *mappings; /* the process's mappings */
	int mem_fd;			     /* the process's mem */
	uint64_t own_addr;		     /* address of hooks to leave out; 0: none */
};

/*
 * Find orphaned hooks, sorted by address; return their number. *ret_is_owned is set if
 * there are also hooks whose memstate is alive; these are left out.
 */
size_t hooks_orphans_find(const struct hooks_look *look,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], bool *ret_is_owned);

/*
 * Return whether the orphan is still there, as hooks_orphans_find()
 * found it, without an owner.
 */
bool hooks_orphans_is_one(const struct hooks_look *look,
			  const struct hooks_orphan *orphan);

/*
 * Redirect all places that lead to the orphan, and check that no thread is in it: then
 * it may be unmapped. s has the request and the process's descriptors. Return 0;
 * -EAGAIN: not yet; or -errno.
 */
int hooks_orphan_disarm(struct hooks_switch *s, const struct hooks_look *look,
			uint64_t base_addr);

/*
 * Find existing gates. Return their address and a copy, which the caller
 * frees; 0 if there are none.
 */
uint64_t hooks_orphans_find_gates(const struct hooks_look *look, struct gates **ret);

#endif
