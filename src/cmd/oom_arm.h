/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_arm - what oom watch does to a group so that victims can be read before they are
 * gone, and that it is put back: by a process of its own, the guard, when memstate says so,
 * ends in whatever way, is not heard of for ARM_SILENCE_NS, or leaves processes standing for
 * as long; and by memstate when the guard ends.
 */
#ifndef MS_CMD_OOM_ARM_H
#define MS_CMD_OOM_ARM_H

#include <poll.h>
#include <stdbool.h>

#include "base/units.h"
#include "model/cgroup.h"
#include "proc/procfs.h"

enum arm_mode {
	ARM_NONE,
	ARM_FREEZE, /* v1: oom_kill_disable: all wait until they have been read */
	ARM_HIGH, /* v2: memory.high a little below the limit: they are slowed down there */
	ARM_TRACE, /* ptrace: who is killed stands still at its end until it has been read */
};

#define ARM_SILENCE_NS (3 * NS_PER_S)
#define ARM_BEAT_NS NS_PER_S

struct oom_arm;

/* "high", "freeze", "trace". Returns 0 or -EINVAL. */
int oom_arm_parse(const char *text, enum arm_mode *ret);

/*
 * What will be done to this group is asked of who sits at the terminal, unless
 * is_agreed. Then it is armed. Returns EXIT_DONE, or how to end after the message.
 */
int oom_arm_begin(enum arm_mode mode, bool is_agreed, const struct procfs *fs,
		  const struct cgroup *cgroup, struct oom_arm **ret);

/* Everything as it was. Returns 0, or -errno if it could not be put back. NULL is fine. */
int oom_arm_end(struct oom_arm *arm);

bool oom_arm_is_armed(const struct oom_arm *arm);
enum arm_mode oom_arm_mode(const struct oom_arm *arm);

/* For poll(2): the guard has something to say. */
int oom_arm_fd(const struct oom_arm *arm);

/* memstate is well; the processes of the group are these. To be called at least each ARM_BEAT_NS. */
void oom_arm_beat(struct oom_arm *arm, const struct cgroup *cgroup);

/* A process that stands still at its end: it is let go by oom_arm_let_go(). 0: none. */
int oom_arm_take_dying(struct oom_arm *arm);
void oom_arm_let_go(struct oom_arm *arm, int pid);

#endif
