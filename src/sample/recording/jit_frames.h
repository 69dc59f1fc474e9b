/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_frames - find names of JIT-compiled code in the files that programs write
 * for perf(1): /tmp/perf-PID.map, and jit-PID.dump in /tmp or in the program's
 * working directory.
 *
 * Both files are untrusted. Symlinks are ignored, as are files that are too large and
 * files whose owner is not the program's user, memstate's user, or root. Damaged parts of
 * a file are skipped.
 */
#ifndef MS_SAMPLE_RECORDING_JIT_FRAMES_H
#define MS_SAMPLE_RECORDING_JIT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/stacks.h"

struct jit_address {
	uint64_t addr;
	/* name of the code at the address, borrowed from names[], or NULL if unknown */
	const char *name;
};

struct jit_frames {
	/* names sorted by address, without duplicate addresses */
	struct jit_address *items;
	size_t count;
	char **names; /* names used by at least one address */
	size_t name_count, name_capacity;
	/* number of search iterations so far, which tests check */
	uint64_t step_count;
};

/* Find the names of all addresses in the stacks that are outside all modules. */
void jit_frames_read(const struct stacks *stacks, struct jit_frames *ret);

/* Return the name for an address, or NULL if it is unknown. */
const char *jit_frames_find(const struct jit_frames *frames, uint64_t addr);

void jit_frames_release(struct jit_frames *frames);

/*
 * Name the addresses from the contents of a perf map or jitdump file. If several entries
 * cover an address, the last entry applies. The number of steps per entry is logarithmic
 * in the number of addresses, no matter how many addresses the entry covers. Exported
 * for tests.
 */
void jit_frames_parse_map(struct jit_frames *frames, const char *text, size_t length);
void jit_frames_parse_dump(struct jit_frames *frames, const char *bytes, size_t length);

#endif
