/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - the heaps of processes where --heap asks for them, and what to say where they
 * cannot be read.
 */
#ifndef MS_CMD_HEAPS_H
#define MS_CMD_HEAPS_H

#include "cmd/session.h"
#include "model/heap.h"

/* The longest stop for a heap that is read without anybody having asked for it just now. */
uint64_t heaps_auto_pause_ns(const struct options *options);

/*
 * From now on heaps are read with what the session reads: those of processes that were
 * named, where they run, unless --heap says otherwise.
 */
void heaps_begin(struct session *session);

/*
 * From now on no sample waits for a walk for longer than this; it gives what is known so
 * far. Until then each waits for its walks.
 */
void heaps_set_patience(struct session *session, uint64_t patience_ns);

/* As sampler_read_mappings(), with the heap where it is to be read. */
int heaps_read(struct session *session, struct usage *u, struct mapping_list *mappings);

/* Do the options about helpers go together? EXIT_DONE, or EXIT_BAD_USAGE after the message. */
int heaps_check_options(const struct options *options);

/* To ask allocators through: put into the targets where the options allow that. The caller's. */
struct helpers *heaps_make_helpers(const struct session *session);

/* Say why the allocator of a process could not be asked, if it was to be. */
void heaps_report_not_asked(const struct usage *u);

/*
 * With --heap walk or helper, say of which processes of the sample the heap could not be
 * read. Returns EXIT_DONE, or EXIT_PARTIAL if there are some.
 */
int heaps_report_missing(const struct session *session, const struct snapshot *snapshot);

/* Why heap_reader_read() did not read it, or gave a heap of unknown quality (r is 0 then). */
void heaps_report_failure(const struct session *session, const struct usage *u,
			  const struct heap *heap, int r);

/*
 * Report memory that was not read because a page may wait for another process or machine
 * (mapping_is_skipped()). with_roots: shared memory was to be read, too.
 */
void heaps_report_skipped(int pid, const struct mapping_list *mappings, bool with_roots);

#endif
