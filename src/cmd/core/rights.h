/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights - name the least right that memstate lacks for a process, and how to grant it.
 */
#ifndef MS_CMD_CORE_RIGHTS_H
#define MS_CMD_CORE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/process.h"
#include "proc/system/procfs.h"

struct rights {
	bool is_tracing;     /* memstate wanted to stop the process, not only read it */
	bool is_root;	     /* memstate's effective user is root */
	bool has_capability; /* memstate has CAP_SYS_PTRACE */
	bool is_same_user;
	/* memstate is in a user namespace other than the initial one */
	bool is_in_namespace;
	const char *user; /* name of the process's user; NULL: unknown */
	int yama_scope;	  /* kernel.yama.ptrace_scope; 0 without Yama */
};

/* Append a hint for a process that memstate may not read or stop. */
void rights_add_hint(const struct rights *rights, struct strbuf *out);

/*
 * Return true if the error is -EPERM or -EACCES and the process has ended: the kernel
 * denies access to a process that is ending, whatever rights memstate has.
 */
bool rights_has_ended(const struct procfs *fs, const struct process *process, int error);

/* Print a hint after the kernel denied access to a live process. */
void rights_report(const struct procfs *fs, int pid, bool is_tracing);

#endif
