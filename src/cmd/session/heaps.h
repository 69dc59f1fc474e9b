/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - read the heaps of processes when --heap asks for them, and report why a
 * heap cannot be read.
 */
#ifndef MS_CMD_SESSION_HEAPS_H
#define MS_CMD_SESSION_HEAPS_H

#include "cmd/session/session.h"
#include "model/heap.h"
#include "sample/heap/reader.h"

/*
 * Return the maximum pause in ns for reading a heap without an explicit request by
 * the user.
 */
uint64_t heaps_auto_pause_ns(const struct options *options);

/*
 * Enable heap reading for the session: as --heap specifies, or by default for running
 * processes that the user named.
 */
void heaps_begin(struct session *session);

/*
 * Set the maximum time for which each later sample waits for heap walks. After that time,
 * the sample contains the results known so far. Without this call, samples wait until all
 * their walks have ended.
 */
void heaps_set_patience(struct session *session, uint64_t patience_ns);

/*
 * Read the mappings of a process as sampler_read_mappings() does, and its heap if the
 * options request it.
 */
int heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings);

/*
 * Call heap_reader_read() once no other memstate traces the process. Retry if another
 * memstate attaches first, or if a thread could not be stopped.
 */
int heaps_read_in_turn(const struct procfs *fs, struct heap_reader *reader,
		       struct usage *u, struct mapping_list *mappings, struct heap *ret);

/*
 * Check that the options for helpers can be combined. Returns EXIT_DONE, or prints a
 * message and returns EXIT_BAD_USAGE.
 */
int heaps_check_options(const struct options *options);

/*
 * Create the object that injects helpers into target processes, to query their
 * allocators, if the options allow it. The caller owns the result.
 */
struct helpers *heaps_make_helpers(const struct session *session);

/* If a query of the process's allocator was requested and failed, report the reason. */
void heaps_report_not_asked(const struct usage *u);

/*
 * With --heap walk or helper, report the processes of the sample whose heap could not be
 * read. Returns EXIT_DONE, or EXIT_PARTIAL if there are such processes.
 */
int heaps_report_missing(const struct session *session, const struct snapshot *snapshot);

/*
 * Report why heap_reader_read() failed. If r is 0, report why the quality of the heap's
 * figures is unknown.
 */
void heaps_report_failure(const struct session *session, const struct usage *u,
			  const struct heap *heap, int r);

/*
 * Report memory that was not read, because a page fault in this memory might block on
 * another process or machine (mapping_is_skipped()). with_roots: also report shared
 * memory, which should have been searched for pointers.
 */
void heaps_report_skipped(int pid, const struct mapping_list *mappings, bool with_roots);

#endif
