/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_order - list the files that the dynamic linker has loaded into a process, in the
 * order in which it searches them for a name. The order is the program, the preloaded
 * libraries, the program's libraries, their libraries, and files loaded later with
 * dlopen(3). The list is in the memory of the process, so its contents are not trusted.
 */
#ifndef MS_TRACEE_ELF_LINK_ORDER_H
#define MS_TRACEE_ELF_LINK_ORDER_H

#include <stddef.h>

#include "tracee/memory/memory.h"

struct link_order {
	/* the first mapping of each file; borrowed from the list in struct memory */
	const struct mapping **items;
	size_t count, capacity;
};

#define LINK_ORDER_INIT    \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Read the list of loaded files. Return 0; -ENODATA for a static program, which has no
 * list; -EBADMSG if the list is invalid; or another -errno.
 */
int link_order_read(struct memory *memory, struct link_order *ret);
void link_order_release(struct link_order *order);

#endif
