/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_sites - find the calls and jumps in a program's code to the entry points of an
 * allocator that is linked into the program.
 *
 * The last 4 bytes of such a call or jump instruction are the displacement of the
 * function. To redirect the call, memstate changes only these bytes. No instruction moves
 * or changes its length, so a thread that was stopped at any instruction continues
 * correctly.
 */
#ifndef MS_PROBE_COUNT_CALL_SITES_H
#define MS_PROBE_COUNT_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/count/names.h"

/*
 * Maximum number of call sites in a program. The injected hooks can replace at most
 * HOOKS_RECORD_MAX call sites.
 */
#define CALL_SITES_MAX 32768

struct call_site {
	uint64_t vaddr; /* link-time address of the 4-byte displacement, or of the slot */
	size_t name;	/* index in counted_names of the called function */
	/*
	 * True if the call site is a stored pointer instead of an instruction: the 8
	 * bytes at vaddr are then the function's address.
	 */
	bool is_slot;
};

struct call_sites {
	struct call_site *items;
	size_t count, capacity;
	/*
	 * link-time addresses of the counted functions; 0 if the file does not define a
	 * function
	 */
	uint64_t function_vaddrs[COUNTED_NAME_COUNT];
};

#define CALL_SITES_INIT       \
	{                     \
		.items = NULL \
	}

/*
 * Find the calls and jumps to counted functions in an open ELF file for x86-64. The
 * result includes slots (stored pointers) into which the linker writes the address of a
 * counted function, because Rust programs call through such slots. Calls within the
 * allocator are omitted.
 *
 * Return 0, even if the file defines no counted function or is stripped; -EOPNOTSUPP if
 * some calls cannot be distinguished from other bytes, or from calls within the
 * allocator; -E2BIG if there are more than CALL_SITES_MAX call sites or the file is too
 * large to search; or -EINTR if a signal asks memstate to exit.
 */
int call_sites_read(int fd, struct call_sites *ret);
void call_sites_release(struct call_sites *sites);

#endif
