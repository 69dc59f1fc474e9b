/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parcel - all that is put into a process, in one piece: code that it can only read, the
 * page, and a private stack, as libc keeps data of its own on a stack, which each child
 * of a fork changes in its copy.
 *
 * The code is a System V segment of ours, which the process attaches; where it cannot,
 * being in another ipc namespace, it is shared memory of the process's own, which we map.
 */
#ifndef MS_PROBE_PARCEL_H
#define MS_PROBE_PARCEL_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/abi.h"
#include "probe/landmarks.h"
#include "probe/machine.h"

#define PARCEL_CODE_BYTES 16384
#define PARCEL_STACK_BYTES (320 << 10)
#define PARCEL_BYTES (PARCEL_CODE_BYTES + AGENT_PAGE_BYTES + PARCEL_STACK_BYTES)

struct parcel {
	uint8_t *code; /* PARCEL_CODE_BYTES, ours to write; NULL: not there yet */
	int segment;   /* -1: none */
};

#define PARCEL_INIT { NULL, -1 }

/* A segment for a process of that user. Returns 0 or -errno. */
int parcel_make(uid_t uid, struct parcel *ret);

/* PARCEL_BYTES that the process has mapped at addr. Returns 0, -EPERM, or -errno. */
int parcel_adopt(int process_fd, uint64_t addr, struct parcel *ret);

/* Neither takes it from the process. */
void parcel_release(struct parcel *parcel);

/*
 * Write all of it for a process that has it at addr. page_segment: -1 if the page is in
 * it. 0 or -E2BIG.
 */
int parcel_fill(struct parcel *parcel, uint64_t addr, int page_segment,
		const struct landmarks *marks);

/* Its order, in code; and where the process has it, and the stub. */
struct machine_order *parcel_order(const struct parcel *parcel);
uint64_t parcel_order_addr(uint64_t addr);
uint64_t parcel_stub_addr(uint64_t addr);
uint64_t parcel_page_addr(uint64_t addr);

#endif
