/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm - change settings of a cgroup so that memstate oom watch can read victims before
 * they end, and restore the settings afterwards. A separate process, the guard, restores
 * the settings when memstate requests it or ends in any way. The guard also restores them
 * when memstate is silent for ARM_SILENCE_NS, or leaves processes stopped for that long.
 * If the guard ends, memstate restores the settings.
 */
#ifndef MS_CMD_OOM_ARM_H
#define MS_CMD_OOM_ARM_H

#include <poll.h>
#include <stdbool.h>

#include "base/units.h"
#include "model/cgroup.h"
#include "proc/system/procfs.h"

enum arm_mode {
	ARM_NONE,
	/*
	 * cgroup v1: with oom_kill_disable, processes wait at the limit until memstate
	 * has read them
	 */
	ARM_FREEZE,
	/*
	 * cgroup v2: the kernel throttles the cgroup at memory.high, slightly
	 * below the limit
	 */
	ARM_HIGH,
	/*
	 * the tracer stops a killed process at its exit until memstate has
	 * read its figures
	 */
	ARM_TRACE,
};

#define ARM_SILENCE_NS (3 * NS_PER_S)
#define ARM_BEAT_NS NS_PER_S

struct oom_arm;

/* Parse the argument of --arm: "high", "freeze" or "trace". Return 0 or -EINVAL. */
int oom_arm_parse(const char *text, enum arm_mode *ret);

/*
 * Show the planned changes of the cgroup's settings on the terminal, and ask for consent
 * unless is_agreed is set. Then make the changes. Return EXIT_DONE, or print a message
 * and return another exit status.
 */
int oom_arm_begin(enum arm_mode mode, bool is_agreed, const struct procfs *fs,
		  const struct cgroup *cgroup, struct oom_arm **ret);

/*
 * Restore all settings of the cgroup. Return 0, or -errno if they could not be restored.
 * arm may be NULL.
 */
int oom_arm_end(struct oom_arm *arm);

bool oom_arm_is_armed(const struct oom_arm *arm);
enum arm_mode oom_arm_mode(const struct oom_arm *arm);

/*
 * Return a descriptor for poll(2) that is readable when the guard process
 * has sent a message.
 */
int oom_arm_fd(const struct oom_arm *arm);

/*
 * Tell the guard process that memstate is alive, and send it the list of the cgroup's
 * processes. Call this function at least every ARM_BEAT_NS.
 */
void oom_arm_beat(struct oom_arm *arm, const struct cgroup *cgroup);

/*
 * Return the pid of a process that is stopped at its exit, or 0. The caller resumes the
 * process with oom_arm_release().
 */
int oom_arm_next_dying(struct oom_arm *arm);
void oom_arm_release(struct oom_arm *arm, int pid);

#endif
