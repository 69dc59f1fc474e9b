/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_order - the files that the dynamic linker has loaded into a process, in the order in
 * which it looks for a name in them: the program, what is preloaded, its libraries, theirs.
 * What was loaded later, by dlopen(3), is at the end.
 *
 * The list is in the process's own memory: it is foreign.
 */
#ifndef MS_TRACEE_ELF_LINK_ORDER_H
#define MS_TRACEE_ELF_LINK_ORDER_H

#include <stddef.h>

#include "tracee/memory/memory.h"

struct link_order {
	const struct mapping *
		*items; /* one mapping of each file, borrowed from the memory's list */
	size_t count, capacity;
};

#define LINK_ORDER_INIT    \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Returns 0; -ENODATA if there is no dynamic linker's list: a static program; -EBADMSG if
 * there is one that makes no sense; -errno.
 */
int link_order_read(struct memory *memory, struct link_order *ret);
void link_order_release(struct link_order *order);

#endif
