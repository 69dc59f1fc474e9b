/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups - open the cgroup that --cgroup names, and report why a group cannot be opened.
 */
#ifndef MS_CMD_SESSION_GROUPS_H
#define MS_CMD_SESSION_GROUPS_H

#include "cmd/session/session.h"
#include "sample/process/cgroup_sampler.h"

/*
 * Check that none of the given options conflicts with --cgroup. Returns EXIT_DONE, or
 * prints a message and returns EXIT_BAD_USAGE.
 */
int groups_check_options(const struct options *options);

/*
 * Open the group that --cgroup names, or the group of the single target process. Without
 * either, open memstate's own group. Returns EXIT_DONE, or prints a message and returns
 * another exit status.
 */
int groups_open(struct session *session, struct cgroup_sampler **ret);

/*
 * Replace the targets by the processes of the group. Returns EXIT_DONE, or prints a
 * message and returns another exit status.
 */
int groups_begin(struct session *session);
void groups_end(struct session *session);

/*
 * Read the group's current state, to be recorded. Returns NULL if the state is not to be
 * recorded, or cannot be read.
 */
const struct cgroup *groups_read(struct session *session);

#endif
