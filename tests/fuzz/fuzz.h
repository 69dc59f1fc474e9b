/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz - what every fuzz target includes: libFuzzer's entry point, and a
 * check that aborts the program.
 *
 * With --enable-fuzzing the targets are linked with libFuzzer and run by hand. Otherwise
 * replay.c feeds them their corpus in `make check`.
 */
#ifndef MS_TESTS_FUZZ_H
#define MS_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Defined by replay.c. A fuzzer may skip slow checks for most
 * inputs; a replay makes all checks.
 */
extern const bool fuzz_replays __attribute__((weak));

static inline bool fuzz_is_replay(void)
{
	return &fuzz_replays != NULL;
}

/* Like assert(), but active in every build. */
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, \
				#condition);                                   \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
