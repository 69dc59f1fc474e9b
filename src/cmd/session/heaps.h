/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - read the heaps of processes as --heap requests, and report why a heap cannot
 * be read.
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
 * Enable heap reading for the session, either as requested with --heap, or by default for
 * running processes that the user named.
 */
void heaps_begin(struct session *session);

/*
 * Allow memstate to keep the copies of heaps between samples, and to track the writes of
 * the processes in the meantime. Do nothing if the series has only one sample.
 */
void heaps_keep_copies(struct session *session);

/*
 * Set the maximum time for which each later sample waits for heap walks. After that time,
 * the sample contains the results known so far. Without this call, samples wait until all
 * their walks have ended.
 */
void heaps_set_patience(struct session *session, uint64_t patience_ns);

/*
 * Read the mappings of a process like sampler_read_mappings(), and its heap if the
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
 * Check that the options for helpers can be combined. Return EXIT_DONE, or print a
 * message and return EXIT_BAD_USAGE.
 */
int heaps_check_options(const struct options *options);

/*
 * Create the object that injects helpers into target processes, to query their
 * allocators, if the options allow it. The caller owns the result.
 */
struct helpers *heaps_make_helpers(const struct session *session);

/* Report why a query of the process's allocator failed, if a query was requested. */
void heaps_report_not_asked(const struct usage *u);

/*
 * With --heap walk or helper, report the processes of the sample whose heap could not be
 * read. Return EXIT_DONE, or EXIT_PARTIAL if there is at least one such process.
 */
int heaps_report_missing(const struct session *session, const struct snapshot *snapshot);

/*
 * Report why heap_reader_read() failed or, if r is 0, why the quality of the heap's
 * figures is unknown.
 */
void heaps_report_failure(const struct session *session, const struct usage *u,
			  const struct heap *heap, int r);

/*
 * Report memory that was not read, because a page fault in it might block on another
 * process or machine (mapping_is_skipped()). If with_roots is set, also report shared
 * memory, which should have been searched for pointers.
 */
void heaps_report_skipped(int pid, const struct mapping_list *mappings, bool with_roots);

#endif
