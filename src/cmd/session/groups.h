/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups - open the cgroup that --cgroup names, and report why a cgroup cannot be opened.
 */
#ifndef MS_CMD_SESSION_GROUPS_H
#define MS_CMD_SESSION_GROUPS_H

#include "cmd/session/session.h"
#include "sample/process/cgroup_sampler.h"

/*
 * Check that no given option conflicts with --cgroup. Return EXIT_DONE, or print a
 * message and return EXIT_BAD_USAGE.
 */
int groups_check_options(const struct options *options);

/*
 * Open the cgroup that --cgroup names, or the cgroup of the single target process.
 * Without either, open memstate's own cgroup. Return EXIT_DONE, or print a message and
 * return another exit status.
 */
int groups_open(struct session *session, struct cgroup_sampler **ret);

/*
 * Replace the targets with the processes of the cgroup. Return EXIT_DONE, or print a
 * message and return another exit status.
 */
int groups_begin(struct session *session);
void groups_end(struct session *session);

/*
 * Read the cgroup's current state for the recording. Return NULL if the state is not
 * recorded or cannot be read.
 */
const struct cgroup *groups_read(struct session *session);

#endif
