/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - read the heaps of processes when --heap asks for them, and report why a
 * heap cannot be read.
 */
#ifndef MS_CMD_SESSION_HEAPS_H
#define MS_CMD_SESSION_HEAPS_H

#include "cmd/session/session.h"
#include "model/heap.h"

/* Return the longest pause in ns for a heap that is read without an explicit request. */
uint64_t heaps_auto_pause_ns(const struct options *options);

/*
 * Let the session read heaps from now on: by default those of running processes that were
 * named, else as --heap specifies.
 */
void heaps_begin(struct session *session);

/*
 * Limit how long each later sample waits for heap walks to patience_ns; after
 * that the sample has what is known so far. Without this call samples wait until
 * their walks are done.
 */
void heaps_set_patience(struct session *session, uint64_t patience_ns);

/* Like sampler_read_mappings(), and read the heap too where the options ask for it. */
int heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings);

/*
 * Check that the options for helpers fit together. Returns EXIT_DONE, or EXIT_BAD_USAGE
 * after a message.
 */
int heaps_check_options(const struct options *options);

/*
 * Create the helpers through which allocators are queried. They are put into the target
 * processes where the options allow that. The caller owns the result.
 */
struct helpers *heaps_make_helpers(const struct session *session);

/* Report why the allocator of a process could not be queried, if that was requested. */
void heaps_report_not_asked(const struct usage *u);

/*
 * With --heap walk or helper, report which processes of the sample have a heap that could
 * not be read. Returns EXIT_DONE, or EXIT_PARTIAL if there are such processes.
 */
int heaps_report_missing(const struct session *session, const struct snapshot *snapshot);

/*
 * Report why heap_reader_read() did not read the heap, or why the heap has unknown
 * quality (r is 0 then).
 */
void heaps_report_failure(const struct session *session, const struct usage *u,
			  const struct heap *heap, int r);

/*
 * Report memory that was not read because a page fault might have to wait for
 * another process or machine (mapping_is_skipped()). with_roots: shared memory
 * was to be read too.
 */
void heaps_report_skipped(int pid, const struct mapping_list *mappings, bool with_roots);

#endif
