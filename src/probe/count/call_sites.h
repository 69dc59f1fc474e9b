/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_sites - the calls and jumps in the code of a program that lead to the entry points
 * of an allocator that is linked into it.
 *
 * Such a call has the distance to the function in its last 4 bytes. To lead it elsewhere
 * only these bytes change: no instruction moves or changes its length, so a thread that is
 * stopped anywhere continues correctly.
 */
#ifndef MS_PROBE_COUNT_CALL_SITES_H
#define MS_PROBE_COUNT_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/count/names.h"

struct call_site {
	uint64_t vaddr; /* of the 4 bytes of the distance */
	size_t name;	/* of the function, by number of counted_names */
	bool is_slot;	/* instead, 8 bytes at vaddr hold the address of the function */
};

struct call_sites {
	struct call_site *items;
	size_t count, capacity;
	uint64_t function_vaddrs[COUNTED_NAME_COUNT]; /* 0: the file does not define it */
};

#define CALL_SITES_INIT       \
	{                     \
		.items = NULL \
	}

/*
 * Programs may also call through a slot that the linker fills in (Rust's do): these slots
 * are included.
 *
 * Read them from an open ELF file for x86-64; calls that the allocator makes itself are
 * left out. Returns 0, also if the file defines no such function or is stripped; or
 * -EOPNOTSUPP if some calls cannot be told apart from other bytes, or from calls within
 * the allocator.
 */
int call_sites_read(int fd, struct call_sites *ret);
void call_sites_release(struct call_sites *sites);

#endif
