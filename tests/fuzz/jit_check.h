/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_check - the addresses for which the fuzz targets of perf(1) map files look up
 * names, and the properties that the result must have.
 */
#ifndef MS_TESTS_FUZZ_JIT_CHECK_H
#define MS_TESTS_FUZZ_JIT_CHECK_H

#include <string.h>

#include "base/xalloc.h"
#include "fuzz.h"
#include "sample/recording/jit_frames.h"

#define JIT_NAME_BYTES 4096 /* longer names are truncated */

static const uint64_t jit_addresses[] = {
	0,
	1,
	0xfff,
	0x1000,
	0x1001,
	0x10ff,
	0x1100,
	0x2000,
	UINT64_C(0x7f0000001000),
	UINT64_C(1) << 63,
	UINT64_MAX - 1,
	UINT64_MAX,
};
#define JIT_ADDRESS_COUNT (sizeof(jit_addresses) / sizeof(jit_addresses[0]))

static inline void jit_make(struct jit_frames *frames)
{
	*frames = (struct jit_frames){ 0 };
	frames->items = xcalloc(JIT_ADDRESS_COUNT, sizeof(*frames->items));
	frames->count = JIT_ADDRESS_COUNT;
	for (size_t i = 0; i < JIT_ADDRESS_COUNT; i++)
		frames->items[i].addr = jit_addresses[i];
}

/* Check that every address is still there, and that every name occurs in the file. */
static inline void jit_check(const struct jit_frames *frames, const void *bytes,
			     size_t size)
{
	CHECK(frames->count == JIT_ADDRESS_COUNT);
	for (size_t i = 0; i < frames->count; i++) {
		const char *name = frames->items[i].name;

		CHECK(frames->items[i].addr == jit_addresses[i]);
		CHECK(jit_frames_find(frames, jit_addresses[i]) == name);
		if (!name)
			continue;
		CHECK(name[0] && strlen(name) <= JIT_NAME_BYTES);
		CHECK(memmem(bytes, size, name, strlen(name)));
	}
}

#endif
