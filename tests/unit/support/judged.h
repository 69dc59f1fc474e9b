/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judged - made-up comparisons of runs and the verdicts derived from them.
 */
#ifndef MS_TESTS_JUDGED_H
#define MS_TESTS_JUDGED_H

#include "base/units.h"
#include "classify/compare/verdict.h"
#include "made_comparison.h"

/* The live memory of a run whose heap is not read. */
#define UNREAD BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN

struct judged {
	struct comparison c;
	struct compared compared; /* valid after judged_finish() */
	struct verdicts verdicts;
};

void judged_begin(struct judged *f);

/*
 * Add a variant with three runs: `run` itself, and `run` with Rss `off` bytes higher and
 * lower. Live memory is the same in all three.
 */
void judged_add_variant(struct judged *f, const char *name, struct made_run run,
			uint64_t off);

/* Return the last run (back 0), or the run that was added `back` runs before it. */
struct run *judged_last_run(struct judged *f, size_t back);

/* Compute the figures and the verdicts. Call it after the last run was added. */
void judged_finish(struct judged *f);

/* Build a whole comparison of two variants, glibc and jemalloc. */
void judged_two(struct judged *f, struct made_run glibc, struct made_run jemalloc,
		uint64_t off);

void judged_release(struct judged *f);

/* Assert that the first verdict follows from `rule` and has this text. */
void assert_verdict(struct judged *f, const char *rule, const char *text);

/* Return the text of the first verdict that follows from `rule`, or NULL. */
const char *judged_find_text(struct judged *f, const char *rule);
void assert_also(struct judged *f, const char *rule, const char *text);

/* Live memory grows all the time, beside a little other memory. */
extern const struct made_run leaking;
/* The program fills its memory early and keeps it. */
extern const struct made_run steady;
/*
 * Most memory is freed at the end: the allocator keeps it (kept)
 * or returns it (given_back).
 */
extern const struct made_run kept, given_back;

#endif
