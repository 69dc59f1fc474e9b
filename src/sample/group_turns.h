/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_turns - the processes of a group, each read as often as all of them may cost
 * together: those that are new at once, the others in turn. Of those whose turn did not
 * come it is known what was read last.
 */
#ifndef MS_SAMPLE_GROUP_TURNS_H
#define MS_SAMPLE_GROUP_TURNS_H

#include "model/cgroup.h"
#include "sample/sampler.h"

struct group_turns {
	struct sampler *sampler; /* borrowed */
	unsigned int needs;
	struct snapshot known; /* by rising pid */
	struct snapshot scratch;
	int last_pid;	      /* that was read in turn */
	int64_t credit_ns;    /* that may be spent on reading; below 0 after a dear one */
	uint64_t credited_ns; /* when it was last given */
};

void group_turns_init(struct group_turns *g, struct sampler *sampler, unsigned int needs);
void group_turns_release(struct group_turns *g);

enum turns {
	TURNS_IN_TURN,	/* while reading has taken no more than its share of the time */
	TURNS_ALL,	/* each, whatever it costs */
	TURNS_MAPPINGS, /* each, with all its mappings */
};

/*
 * The group's pids are what there is: forget the others, read some that are known again,
 * and those that are new.
 */
void group_turns_update(struct group_turns *g, const struct cgroup *cgroup,
			unsigned int share_per_million, enum turns turns);

/*
 * Read all mappings of one of them now. Returns 0, or -errno: then what was known of it
 * stays. A pid that is none of them is one from now on, if it can be read.
 */
int group_turns_read(struct group_turns *g, int pid);

#endif
