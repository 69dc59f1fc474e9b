/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mount_line.h"
#include "cmd/core/rights.h"
#include "cmd/doctor/facts.h"
#include "proc/process/file.h"

static void check_all_processes(const struct patient *patient, struct finding *ret)
{
	const struct tally tally = patient_tally(patient, PROC_SMAPS);

	find_tally(&tally, patient_read_fix(patient), ret);
}

/*
 * Find the last mount at /proc, whose options are in effect. Return false if there is no
 * such mount.
 */
static bool find_proc_mount(char *mountinfo, struct mount_line *ret)
{
	struct mount_line mount;
	bool is_found = false;

	while (mount_line_next(&mountinfo, &mount))
		if (strcmp(mount.point, "/proc") == 0) {
			*ret = mount;
			is_found = true;
		}
	return is_found;
}

static void check_hidepid(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct mount_line mount;
	const char *value = NULL;
	bool is_mounted;

	if (patient_read(patient, PROCFS_SELF, PROC_MOUNTINFO, &text) < 0 ||
	    text.length == 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "self/mountinfo cannot be read");
		return;
	}
	is_mounted = find_proc_mount(text.text, &mount);
	if (is_mounted)
		value = mount_line_find_option(&mount, "hidepid=");
	if (!value)
		value = "off";
	if (!is_mounted)
		finding_set(ret, ANSWER_UNKNOWN, NULL,
			    "no file system is mounted at "
			    "/proc");
	else if (value[0] == '0' || strncmp(value, "off", 3) == 0)
		finding_set(ret, ANSWER_YES, NULL, "/proc is mounted without hidepid");
	else
		finding_set(ret, patient->may_trace ? ANSWER_YES : ANSWER_PARTLY,
			    "join the group that the mount option gid= names, grant "
			    "memstate CAP_SYS_PTRACE, or mount /proc with hidepid=off",
			    "/proc is mounted with hidepid=%.*s",
			    (int)strcspn(value, ", "), value);
}

static enum answer scope_answer(unsigned int scope, bool is_capable)
{
	if (scope == 3)
		return ANSWER_NO;
	if (is_capable)
		return ANSWER_YES;
	return scope == 2 ? ANSWER_NO : ANSWER_PARTLY;
}

static void check_ptrace(const struct patient *patient, struct finding *ret)
{
	static const char *const scopes[] = {
		"any process of the same user",
		"only its own children",
		"only with CAP_SYS_PTRACE",
		"none",
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool is_capable = patient->may_trace;
	unsigned int scope = 0;

	if (patient_read_system(patient, SYSTEM_PTRACE_SCOPE, &text) < 0) {
		finding_set(ret, is_capable ? ANSWER_YES : ANSWER_PARTLY,
			    AS_ROOT HOW_TO_GRANT("cap_sys_ptrace"),
			    "this kernel does not have Yama; %s",
			    is_capable ? "memstate has CAP_SYS_PTRACE"
				       : "memstate "
					 "lacks "
					 "CAP_SYS_PTRACE");
		return;
	}
	if (sscanf(strbuf_text(&text), "%u", &scope) != 1 || scope > 3)
		scope = 3;
	finding_set(ret, scope_answer(scope, is_capable),
		    scope == 3 ? "reboot with kernel.yama.ptrace_scope below 3"
			       : AS_ROOT HOW_TO_GRANT("cap_sys_ptrace"),
		    "kernel.yama.ptrace_scope is %u: %s; %s", scope, scopes[scope],
		    is_capable ? "memstate has CAP_SYS_PTRACE"
			       : "memstate lacks "
				 "CAP_SYS_PTRACE");
}

/*
 * Check whether the namespace is the initial one. include/linux/proc_ns.h defines the
 * inode numbers of the initial namespaces.
 */
static void check_namespace(enum proc_file file, unsigned int initial, const char *limit,
			    struct finding *ret)
{
	const char *name = strrchr(proc_file_name(file), '/') + 1;
	struct stat st;
	int r = proc_own_stat(file, &st);

	if (r < 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL, "self/ns/%s: %s", name,
			    strerror(-r));
	else if (st.st_ino == initial)
		finding_set(ret, ANSWER_YES, NULL, "the machine's own %s namespace",
			    name);
	else
		finding_set(ret, ANSWER_PARTLY, "run memstate outside the container",
			    "a separate %s namespace: %s", name, limit);
}

static void check_apparmor(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf label = STRBUF_INIT;
	int r = patient_read(patient, PROCFS_SELF, PROC_ATTR_CURRENT, &label);

	strbuf_truncate(&label, strcspn(strbuf_text(&label), "\n"));
	if (r < 0 || label.length == 0)
		finding_set(ret, ANSWER_YES, NULL, "AppArmor is off");
	else if (rights_is_confined(strbuf_text(&label)))
		finding_set(ret, ANSWER_PARTLY,
			    "run memstate without a profile (apparmor=unconfined in "
			    "Docker, appArmorProfile Unconfined in Kubernetes), or add "
			    "the rules 'ptrace read,' and 'ptrace trace,' to it",
			    "memstate has the profile %s", strbuf_text(&label));
	else
		finding_set(ret, ANSWER_YES, NULL, "memstate is %s", strbuf_text(&label));
}

static void check_pid_namespace(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	check_namespace(PROC_NS_PID, 0xeffffffc, "processes outside it are not visible",
			ret);
}

static void check_user_namespace(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	check_namespace(PROC_NS_USER, 0xeffffffd, "root here is not root outside", ret);
}

static void check_no_container(const struct patient *patient, struct finding *ret)
{
	static const char *const marks[] = { "/.dockerenv", "/run/.containerenv" };
	const char *name = getenv("container");

	(void)patient;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (access(marks[i], F_OK) == 0) {
			finding_set(ret, ANSWER_PARTLY, NULL, "in a container: %s exists",
				    marks[i]);
			return;
		}
	if (name && name[0])
		finding_set(ret, ANSWER_PARTLY, NULL, "in a container: $container is %s",
			    name);
	else
		finding_set(ret, ANSWER_YES, NULL, "no sign of a container");
}

static const struct check checks[] = {
	{ "all_processes", "the memory of every process may be read", false,
	  CHECK_ANYWHERE, check_all_processes },
	{ "visible_processes", "other users' processes are listed", false, CHECK_LIVE,
	  check_hidepid },
	{ "trace",
	  "other processes may be traced, to read their threads' stack "
	  "pointers",
	  false, CHECK_LIVE, check_ptrace },
	{ "apparmor", "AppArmor permits reading processes with other profiles", false,
	  CHECK_LIVE, check_apparmor },
	{ "pid_namespace", "all processes of the machine are visible", false, CHECK_LIVE,
	  check_pid_namespace },
	{ "user_namespace", "root is root of the whole machine", false, CHECK_LIVE,
	  check_user_namespace },
	{ "no_container", "the whole machine is visible", false, CHECK_LIVE,
	  check_no_container },
};

const struct check_list doctor_rights_checks = {
	"permissions",
	checks,
	sizeof(checks) / sizeof(checks[0]),
};
