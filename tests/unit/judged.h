/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judged - made-up comparisons and the sentences that follow from them.
 */
#ifndef MS_TESTS_JUDGED_H
#define MS_TESTS_JUDGED_H

#include "base/units.h"
#include "classify/verdict.h"
#include "made_comparison.h"

/* The live memory of a run whose heap is not read. */
#define UNREAD BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN

struct judged {
	struct comparison c;
	struct compared compared; /* from judged_finish() on */
	struct verdicts verdicts;
};

void judged_begin(struct judged *f);

/* Three runs: as said, with everything but its live memory `off` more, and less. */
void judged_add_variant(struct judged *f, const char *name, struct made_run run,
			uint64_t off);

/* The last one, or one so far before it. */
struct run *judged_last_run(struct judged *f, size_t back);

/* All runs are there. */
void judged_finish(struct judged *f);

/* All of that: glibc and jemalloc. */
void judged_two(struct judged *f, struct made_run glibc, struct made_run jemalloc,
		uint64_t off);

void judged_release(struct judged *f);

/* The verdict is of that rule, and says that. */
void assert_verdict(struct judged *f, const char *rule, const char *text);

/* What the rule says, or NULL. */
const char *judged_find_text(struct judged *f, const char *rule);
void assert_also(struct judged *f, const char *rule, const char *text);

/* Live memory that grows all the time, and little else. */
extern const struct made_run leaking;
/* Fills up at once, and stays. */
extern const struct made_run steady;
/* Most is freed at the end; kept, or given back. */
extern const struct made_run kept, given_back;

#endif
