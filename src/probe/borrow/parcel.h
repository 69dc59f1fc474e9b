/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parcel - the helper's memory in a process, which is a single address range: the code,
 * the page shared with memstate, and a private stack. The stack must be private because
 * libc stores data on it that differs in each forked child.
 *
 * The code is in private memory, never in shared memory. The process can only read and
 * execute it; memstate writes it with ptrace access.
 */
#ifndef MS_PROBE_BORROW_PARCEL_H
#define MS_PROBE_BORROW_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/helper/abi.h"
#include "probe/borrow/landmarks.h"
#include "probe/borrow/machine.h"

#define PARCEL_CODE_BYTES 16384
#define PARCEL_STACK_BYTES (320 << 10)
#define PARCEL_BYTES (PARCEL_CODE_BYTES + AGENT_PAGE_BYTES + PARCEL_STACK_BYTES)

/*
 * Offset of the magic number in the header of the helper's code. memstate finds the code
 * in a process by searching for this number.
 */
#define PARCEL_MAGIC_OFFSET offsetof(struct agent_blob_head, magic)

/*
 * The values that memstate writes into the code of a parcel (a helper's
 * code, page and stack).
 */
struct parcel_site {
	/* address of the whole parcel (code, page and stack) in the process */
	uint64_t addr;
	/* identifier of the System V segment, or -1 if the page is not a segment */
	int page_segment;
	uint32_t tracer; /* id of the tracing thread, as returned by trace_sign() */
	const struct landmarks *marks;
};

/*
 * Write the code of a helper's parcel to a buffer, and insert the given values. Return 0,
 * or -E2BIG if the code exceeds the size of its area.
 */
int parcel_make_code(const struct parcel_site *site, uint8_t ret[PARCEL_CODE_BYTES]);

/*
 * Return true if the process contains the helper's code at addr. The comparison ignores
 * the id of the segment, the id of the tracing thread, and the addresses of the
 * allocator's functions.
 */
bool parcel_exists(int mem_fd, uint64_t addr, const struct landmarks *marks);

/*
 * Find the thread whose stack pointer is in the parcel (the helper's code, page and
 * stack). Return its id in memstate's pid namespace, or 0 if there is no such thread. A
 * thread that is running on a CPU is not found.
 */
int parcel_find_thread(int process_fd, uint64_t addr);

/*
 * Return the address of an item in the helper's parcel, which starts at addr: the stub's
 * parameters (struct machine_order), the stub, the page, the stack, or the word that the
 * stub polls.
 */
uint64_t parcel_order_addr(uint64_t addr);
uint64_t parcel_stub_addr(uint64_t addr);
uint64_t parcel_page_addr(uint64_t addr);
uint64_t parcel_stack_addr(uint64_t addr);
uint64_t parcel_tracer_addr(uint64_t addr);

#endif
