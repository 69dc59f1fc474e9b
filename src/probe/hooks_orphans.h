/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_orphans - hooks in a process whose memstate was killed before it could take them
 * out again; and gates that were left there, for hooks to come.
 *
 * Both are known by their code, byte for byte, in private memory (private_code). The rest
 * of what they hold the process could have written itself, so memstate only reads it: the
 * places that lead to hooks, and the functions these stand for, are found anew in the
 * process's files.
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

/* Is this one still there, as hooks_orphans_find() found it, and without an owner? */
bool hooks_orphans_is_one(const struct hooks_look *look, const struct hooks_orphan *orphan);

/*
 * No place leads to it any more, and no thread is in it: it may be unmapped. s has the
 * request and the process's descriptors. Returns 0; -EAGAIN: not yet; or -errno.
 */
int hooks_orphan_disarm(struct hooks_switch *s, const struct hooks_look *look, uint64_t base_addr);

/* Return the address of gates that are there, with a copy of them, which the caller frees; or 0. */
uint64_t hooks_orphans_find_gates(const struct hooks_look *look, struct gates **ret);

#endif
