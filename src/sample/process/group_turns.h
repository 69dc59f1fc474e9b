/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_turns - read the processes of a cgroup within a common CPU budget: new processes
 * immediately, and all others in turn. Until its turn, a process keeps the figures of its
 * last reading.
 */
#ifndef MS_SAMPLE_PROCESS_GROUP_TURNS_H
#define MS_SAMPLE_PROCESS_GROUP_TURNS_H

#include "model/cgroup.h"
#include "sample/process/sampler.h"

struct group_turns {
	struct sampler *sampler; /* borrowed */
	unsigned int needs;
	/* figures of all processes of the cgroup, in ascending order of pid */
	struct snapshot known;
	struct snapshot scratch;
	int last_pid; /* pid of the process that was read last */
	/*
	 * CPU time left for reading; negative if reading took more than was left
	 */
	int64_t credit_ns;
	uint64_t credited_ns; /* time when the budget was last increased */
};

void group_turns_init(struct group_turns *g, struct sampler *sampler, unsigned int needs);
void group_turns_release(struct group_turns *g);

enum turns {
	/* read processes in turn, without exceeding the share of CPU time for reading */
	TURNS_IN_TURN,
	TURNS_ALL,	/* read every process, regardless of the cost */
	TURNS_MAPPINGS, /* read every process with all its mappings */
};

/*
 * Update the list of processes to the current pids of the cgroup: forget processes that
 * have left it, read new processes, and read some of the known processes again.
 */
void group_turns_update(struct group_turns *g, const struct cgroup *cgroup,
			unsigned int share_per_million, enum turns turns);

/*
 * Read all mappings of a process now, and add the process if its pid is unknown. Return
 * 0, or -errno with the known figures unchanged.
 */
int group_turns_read(struct group_turns *g, int pid);

#endif
