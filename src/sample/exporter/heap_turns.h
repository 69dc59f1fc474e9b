/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_turns - read the heaps of a few processes in each round, within a separate time
 * budget, and keep the figures of each process until its next reading.
 */
#ifndef MS_SAMPLE_EXPORTER_HEAP_TURNS_H
#define MS_SAMPLE_EXPORTER_HEAP_TURNS_H

#include <regex.h>

#include "classify/exporter/look.h"
#include "sample/heap/keeper.h"

struct heap_turns;

/*
 * Create the state for reading the heaps of the processes whose command matches the
 * pattern. Reading a heap pauses its process for at most max_pause_ns. fs, sampler and
 * pattern are borrowed.
 */
struct heap_turns *heap_turns_new(const struct procfs *fs, struct sampler *sampler,
				  const regex_t *pattern, uint64_t max_pause_ns);
void heap_turns_free(struct heap_turns *turns);

/*
 * Read the heaps of the next processes in the snapshot, and add the durations of the
 * pauses to *pauses. Forget the processes that are no longer in the snapshot.
 */
void heap_turns_take(struct heap_turns *turns, const struct snapshot *processes,
		     struct look_pauses *pauses);

/* Return the latest usage of the process that includes its heap, or NULL. */
const struct usage *heap_turns_find(const struct heap_turns *turns,
				    const struct process *process);

#endif
