/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner_turns - read the mappings of selected processes in turn, with a budget of CPU
 * time, and keep the owners of their memory between two readings. New processes are read
 * first, then those whose memory has changed, then those whose figures are old.
 */
#ifndef MS_SAMPLE_EXPORTER_OWNER_TURNS_H
#define MS_SAMPLE_EXPORTER_OWNER_TURNS_H

#include "classify/exporter/groups.h"
#include "sample/process/sampler.h"

/* Maximum age of figures. Older figures are not returned. */
#define OWNER_TURNS_KEEP_NS (300 * NS_PER_S)

struct owner_turns;

/*
 * Create the state for reading processes in turn. Reading uses at most cpu_share
 * thousandths of a percent of one CPU (0: no limit), and at most max_share_per_mille of
 * the time of each process (0 and 1000: no limit). The sampler is borrowed.
 */
struct owner_turns *owner_turns_new(struct sampler *sampler, uint64_t cpu_share,
				    unsigned int max_share_per_mille);
void owner_turns_free(struct owner_turns *turns);

/*
 * Read the mappings of processes in the snapshot, which is in ascending order of pid, for
 * at most limit_ns. is_wanted selects the processes by their index; owner_turns forgets
 * the figures of all other processes. Return the time for which reading held mmap locks,
 * in ns.
 */
uint64_t owner_turns_take(struct owner_turns *turns, const struct snapshot *processes,
			  const bool *is_wanted, uint64_t limit_ns);

/* Return the figures of the process, or NULL if they are unknown or too old at now_ns. */
const struct owner_figures *owner_turns_find(const struct owner_turns *turns,
					     const struct process *process,
					     uint64_t now_ns);

#endif
