/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recordings - recordings that tests make, in a folder of their own.
 */
#ifndef MS_TESTS_UNIT_RECORDINGS_H
#define MS_TESTS_UNIT_RECORDINGS_H

#include <stdint.h>

#include "store/recording.h"
#include "tree.h"

#define KB UINT64_C(1024)

/* Where a test may have files. */
extern struct tree recordings_tree;

/* In it; where there is none yet when a test begins. */
extern char recordings_path[64];

int recordings_set_up(void **state);
int recordings_tear_down(void **state);

/* Skips the test without SQLite. */
void recordings_open(struct recording **ret);

/* Its totals only; to be released. */
void recordings_make_usage(struct usage *u, int pid, uint64_t rss_kb);

void recordings_begin(struct recording *r);
void recordings_add(struct recording *r, int pid, uint64_t rss_kb);
void recordings_end(struct recording *r, uint64_t ms);

/* All three, of one process. */
void recordings_sample(struct recording *r, uint64_t ms, int pid, uint64_t rss_kb);

#endif
