/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recordings - recordings that tests make in a temporary folder.
 */
#ifndef MS_TESTS_UNIT_RECORDINGS_H
#define MS_TESTS_UNIT_RECORDINGS_H

#include <stdint.h>

#include "store/recording/recording.h"
#include "tree.h"

#define KB UINT64_C(1024)

/* The folder for a test's files. */
extern struct tree recordings_tree;

/* A path in the folder; the file does not exist when a test begins. */
extern char recordings_path[64];

int recordings_set_up(void **state);
int recordings_tear_down(void **state);

/* Open a new recording, or skip the test if memstate is built without SQLite. */
void recordings_open(struct recording **ret);

/* Fill u with totals only. The caller releases u. */
void recordings_make_usage(struct usage *u, int pid, uint64_t rss_kb);

void recordings_begin(struct recording *r);
void recordings_add(struct recording *r, int pid, uint64_t rss_kb);
void recordings_end(struct recording *r, uint64_t ms);

/* Record a whole sample with one process: begin, add, end. */
void recordings_sample(struct recording *r, uint64_t ms, int pid, uint64_t rss_kb);

#endif
