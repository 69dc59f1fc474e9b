/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights - name the smallest privilege that memstate lacks to read or stop a process, and
 * how to obtain it.
 */
#ifndef MS_CMD_CORE_RIGHTS_H
#define MS_CMD_CORE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/process.h"
#include "proc/system/procfs.h"

struct rights {
	bool is_tracing;     /* true if memstate tried to stop the process */
	bool is_root;	     /* true if memstate's effective user is root */
	bool has_capability; /* true if memstate has CAP_SYS_PTRACE */
	/*
	 * true if CAP_PERFMON is sufficient on this kernel to read the memory figures of
	 * all processes
	 */
	bool is_perfmon_enough;
	bool is_confined; /* true if an AppArmor profile confines memstate */
	bool is_same_user;
	/* true if memstate is in a user namespace other than the initial one */
	bool is_in_namespace;
	const char *user; /* name of the process's user, or NULL */
	int yama_scope;	  /* kernel.yama.ptrace_scope; 0 without Yama */
};

/*
 * Return true if CAP_PERFMON permits reading maps, smaps and smaps_rollup of all
 * processes in this version of the kernel.
 */
bool rights_is_perfmon_enough(unsigned int kernel_major, unsigned int kernel_minor);

/*
 * Return true if the label of a process, as in /proc/PID/attr/current, names an AppArmor
 * profile in enforce mode.
 */
bool rights_is_confined(const char *label);

/* Append a hint for a process that memstate is not permitted to read or stop. */
void rights_add_hint(const struct rights *rights, struct strbuf *out);

/*
 * Return true if the error is -EPERM or -EACCES and the process has ended. The kernel
 * denies access to a process that is ending, whatever privileges memstate has.
 */
bool rights_has_ended(const struct procfs *fs, const struct process *process, int error);

/* Print a hint after the kernel denied access to a live process. */
void rights_report(const struct procfs *fs, int pid, bool is_tracing);

#endif
