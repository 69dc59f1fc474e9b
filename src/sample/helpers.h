/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helpers - the helpers in the processes that are looked at: found there or put in,
 * asked, taken out.
 *
 * One that was put in stays until helpers_free(); if memstate is killed, until nobody has
 * asked it for a minute. One that was there from the start stays there. One thread at a
 * time.
 */
#ifndef MS_SAMPLE_HELPERS_H
#define MS_SAMPLE_HELPERS_H

#include "model/helper_answer.h"
#include "model/process.h"
#include "proc/procfs.h"
#include "sample/sampler.h"

struct helpers;

/* The procfs is borrowed. wants_text: malloc_info(3) and its like too. */
struct helpers *helpers_new(const struct procfs *fs, bool allows_stall, bool wants_text);

/*
 * Into processes with the pids and names of these targets, and not into their children,
 * one may be put. Names are borrowed.
 */
void helpers_allow(struct helpers *helpers, const struct targets *targets);

/*
 * Take out those that were put in. on_left, which may be NULL, is called for each process
 * in which something was left behind, with what, in words that end no sentence.
 */
void helpers_free(struct helpers *helpers,
		  void (*on_left)(void *context, int pid, const char *what), void *context);

/*
 * See to it that there is one: *ret is initialised, and its error and problem say why
 * there is none. After a failure this is tried again in a second, then in two, up to a
 * minute; sooner where none may be put in.
 */
void helpers_open(struct helpers *helpers, const struct process *p, struct helper_answer *ret);

/*
 * Ask the one that helpers_open() found, if it did: figures, without bounds, into *ret.
 * Where the last ones are so new that asking again would cost the process too much, they
 * are given again. free_chunks: how many there are, as a walk counted them;
 * BYTES_UNKNOWN.
 */
void helpers_ask(struct helpers *helpers, const struct process *p, uint64_t free_chunks,
		 struct helper_answer *ret);

#endif
