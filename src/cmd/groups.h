/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups - the group that --cgroup names: opened, with what is to be said where that fails.
 */
#ifndef MS_CMD_GROUPS_H
#define MS_CMD_GROUPS_H

#include "cmd/session.h"
#include "sample/cgroup_sampler.h"

/* What goes together with --cgroup, of a watch. EXIT_DONE, or EXIT_BAD_USAGE after the message. */
int groups_check_options(const struct options *options);

/* Why a group could not be opened. Returns EXIT_FAILED. */
int groups_report_open(const struct cgroup_target *target, int error);

/*
 * The group that --cgroup names, or that of the one process that is a target; without
 * either our own. Returns EXIT_DONE, or how to end after the message.
 */
int groups_open(struct session *session, struct cgroup_sampler **ret);

/* Its processes become the targets. Returns EXIT_DONE, or how to end after the message. */
int groups_begin(struct session *session);
void groups_end(struct session *session);

/* As it is now, to be recorded with its processes; NULL where that is not wanted, or cannot be. */
const struct cgroup *groups_read(struct session *session);

#endif
