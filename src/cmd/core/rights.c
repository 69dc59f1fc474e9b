/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/key_lines.h"
#include "base/user.h"
#include "cmd/core/message.h"
#include "proc/process/file.h"
#include "proc/process/stat.h"
#include "proc/system/file.h"

#define FILE_BYTES_MAX 16384

#define CAPABILITY_SYS_PTRACE 19 /* value of CAP_SYS_PTRACE in <linux/capability.h> */

/* Inode number of the initial user namespace (include/linux/proc_ns.h). */
#define INITIAL_USER_NAMESPACE 0xeffffffdU

#define AS_ROOT "use 'sudo memstate'"

/*
 * The first kernel version in which CAP_PERFMON permits reading the mappings
 * of all processes.
 */
#define PERFMON_MAJOR 6
#define PERFMON_MINOR 15

bool rights_is_perfmon_enough(unsigned int kernel_major, unsigned int kernel_minor)
{
	return kernel_major > PERFMON_MAJOR ||
	       (kernel_major == PERFMON_MAJOR && kernel_minor >= PERFMON_MINOR);
}

bool rights_is_confined(const char *label)
{
	return strstr(label, " (enforce)") != NULL;
}

/* Return true if CAP_PERFMON, a lesser privilege than CAP_SYS_PTRACE, is sufficient. */
static bool needs_perfmon(const struct rights *rights)
{
	return rights->is_perfmon_enough && !rights->is_tracing;
}

static void add_capable_hint(const struct rights *rights, struct strbuf *out)
{
	if (rights->is_in_namespace)
		strbuf_add_text(out, "memstate is running in a user namespace, where "
				     "CAP_SYS_PTRACE covers only the processes of this "
				     "namespace; run memstate on the host");
	else if (rights->is_confined)
		strbuf_add_text(out,
				"AppArmor confines memstate; run it without a profile "
				"(--security-opt apparmor=unconfined in Docker, "
				"appArmorProfile Unconfined in Kubernetes), or add "
				"the rules 'ptrace read,' and 'ptrace trace,' to it");
	else
		strbuf_add_text(out, "memstate has CAP_SYS_PTRACE: a security module or "
				     "a sandbox denies access; see 'memstate doctor'");
}

static void add_other_user_hint(const struct rights *rights, struct strbuf *out)
{
	const char *user = rights->user ? rights->user : "another user";

	strbuf_addf(out, "the process runs as %s; ", user);
	if (rights->user && strcmp(user, "root") != 0 &&
	    !(rights->is_tracing && rights->yama_scope > 0))
		strbuf_addf(out,
			    "use 'sudo -u %s memstate', or for all processes 'sudo "
			    "memstate'",
			    user);
	else
		strbuf_addf(
			out, AS_ROOT ", or grant memstate %s",
			needs_perfmon(rights)
				? "CAP_PERFMON ('sudo setcap cap_perfmon+ep FILE')"
				: "CAP_SYS_PTRACE ('sudo setcap cap_sys_ptrace+ep FILE')");
}

void rights_add_hint(const struct rights *rights, struct strbuf *out)
{
	if (rights->is_tracing && rights->yama_scope >= 3)
		strbuf_add_text(out, "kernel.yama.ptrace_scope is 3: no process may be "
				     "traced; a lower value requires a reboot");
	else if (rights->has_capability)
		add_capable_hint(rights, out);
	else if (rights->is_root)
		strbuf_addf(out,
			    "memstate runs as root without CAP_%s; a container needs "
			    "--cap-add %s",
			    needs_perfmon(rights) ? "PERFMON" : "SYS_PTRACE",
			    needs_perfmon(rights) ? "PERFMON" : "SYS_PTRACE");
	else if (!rights->is_same_user)
		add_other_user_hint(rights, out);
	else if (rights->is_tracing && rights->yama_scope == 2)
		strbuf_add_text(out, "kernel.yama.ptrace_scope is 2; " AS_ROOT);
	else if (rights->is_tracing && rights->yama_scope == 1)
		strbuf_add_text(out, "kernel.yama.ptrace_scope is 1; " AS_ROOT ", start "
				     "the program with 'memstate -- COMMAND', or run "
				     "'sudo sysctl kernel.yama.ptrace_scope=0'");
	else
		strbuf_add_text(out, "the process is protected from its own user, as "
				     "set-user-ID programs are; " AS_ROOT);
}

static bool has_capability(void)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t mask;

	return proc_own_read(PROC_STATUS, FILE_BYTES_MAX, &text) == 0 &&
	       key_lines_find_hex(strbuf_text(&text), "CapEff:", &mask) &&
	       mask >> CAPABILITY_SYS_PTRACE & 1;
}

static bool is_perfmon_enough(const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf release = STRBUF_INIT;
	unsigned int major, minor;

	return system_file_read(fs, SYSTEM_OSRELEASE, FILE_BYTES_MAX, &release) == 0 &&
	       sscanf(strbuf_text(&release), "%u.%u", &major, &minor) == 2 &&
	       rights_is_perfmon_enough(major, minor);
}

static bool is_confined(void)
{
	_cleanup_strbuf_ struct strbuf label = STRBUF_INIT;

	return proc_own_read(PROC_ATTR_CURRENT, FILE_BYTES_MAX, &label) == 0 &&
	       rights_is_confined(strbuf_text(&label));
}

static int read_yama_scope(const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (system_file_read(fs, SYSTEM_PTRACE_SCOPE, FILE_BYTES_MAX, &text) < 0)
		return 0;
	return atoi(strbuf_text(&text));
}

bool rights_has_ended(const struct procfs *fs, const struct process *process, int error)
{
	struct process now;
	int r;

	if (error != -EPERM && error != -EACCES)
		return false;
	r = proc_stat_read(fs, process->pid, &now);
	if (r == 0)
		return !process_is_same(&now, process) || process_has_ended(&now);
	return r == -ESRCH;
}

void rights_report(const struct procfs *fs, int pid, bool is_tracing)
{
	_cleanup_strbuf_ struct strbuf hint = STRBUF_INIT;
	uint32_t uid = proc_stat_read_uid(fs, pid);
	struct stat st;
	struct rights rights = {
		.is_tracing = is_tracing,
		.is_root = geteuid() == 0,
		.has_capability = has_capability(),
		.is_perfmon_enough = is_perfmon_enough(fs),
		.is_confined = is_confined(),
		.is_same_user = uid == geteuid(),
		.is_in_namespace = proc_own_stat(PROC_NS_USER, &st) == 0 &&
				   st.st_ino != INITIAL_USER_NAMESPACE,
		.user = uid == UINT32_MAX ? NULL : user_find_name(uid),
		.yama_scope = read_yama_scope(fs),
	};

	if (!fs->is_live)
		return;
	rights_add_hint(&rights, &hint);
	message("hint: %s", strbuf_text(&hint));
}
