/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_orphans - hooks in a process whose memstate was killed before it could take them
 * out again; and gates that were left there, for hooks to come.
 */
#ifndef MS_PROBE_HOOKS_ORPHANS_H
#define MS_PROBE_HOOKS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count_hooks.h"
#include "model/mapping.h"
#include "probe/hooks_parcel.h"
#include "probe/hooks_switch.h"
#include "probe/hooks_visit.h"

#define HOOKS_ORPHANS_MAX 8

struct hooks_look {
	const struct procfs *fs; /* ours: for who made them */
	const struct mapping_list *mappings; /* the process's */
	int mem_fd;			     /* the process's mem */
	uint64_t own_addr; /* of hooks that are not looked at; 0: none */
};

/*
 * Where they are, by address. *ret_is_owned: there are some whose memstate is alive,
 * which are not among them.
 */
size_t hooks_orphans_find(const struct hooks_look *look,
			  struct hooks_orphan ret[HOOKS_ORPHANS_MAX], bool *ret_is_owned);

/*
 * No place leads to it any more, and no thread is in it: it may be unmapped. Returns 0;
 * -EAGAIN: not yet; or -errno.
 */
int hooks_orphan_disarm(struct hooks_switch *s, const struct mapping_list *mappings, int mem_fd,
			uint64_t base_addr);

/*
 * Gates that are there, attached to the parcel. Returns their address, or 0: there are
 * none, or none to be had.
 */
uint64_t hooks_orphans_find_gates(const struct mapping_list *mappings, int mem_fd,
				  struct hooks_parcel *parcel);

#endif
