/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "classify/process/heap_problem.h"
#include "cmd/doctor/facts.h"
#include "model/allocator_signs.h"
#include "model/heap.h"
#include "model/known_names.h"
#include "probe/attach.h"
#include "probe/borrow/gates.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/task.h"

static void check_memory(const struct patient *patient, struct finding *ret)
{
	const struct process *p = patient->process;

	if (process_has_memory(p))
		finding_set(ret, ANSWER_YES, NULL, "in state %c, %u thread%s", p->state,
			    p->thread_count, p->thread_count == 1 ? "" : "s");
	else
		finding_set(ret, ANSWER_NO, NULL,
			    p->is_kernel_thread
				    ? "a kernel thread has none"
				    : "a zombie: it has exited, and its memory has been "
				      "freed");
}

static void check_smaps(const struct patient *patient, struct finding *ret)
{
	int err = patient->smaps_error;

	if (!process_has_memory(patient->process))
		finding_set(ret, ANSWER_UNKNOWN, NULL, "there is nothing to read");
	else if (err == -EOPNOTSUPP)
		finding_set(ret, ANSWER_NO, NULL, "smaps does not exist");
	else if (err < 0)
		finding_set(ret, ANSWER_NO,
			    err == -EACCES ? patient_read_fix(patient) : NULL,
			    "smaps: %s", strerror(-err));
	else
		finding_set(ret, ANSWER_YES, NULL, "smaps has %zu mappings",
			    patient->mappings->count);
}

static void check_rollup(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[PROCFS_PATH_SIZE];
	int r;

	proc_file_format_path(path, patient->process->pid, PROC_SMAPS_ROLLUP);
	r = patient_read_head(patient, path, &text);
	if (!process_has_memory(patient->process))
		finding_set(ret, ANSWER_UNKNOWN, NULL, "there is nothing to read");
	else if (r < 0)
		finding_set(ret, ANSWER_NO,
			    r == -EACCES ? patient_read_fix(patient) : NULL,
			    "smaps_rollup: %s", strerror(-r));
	else
		finding_set(ret, ANSWER_YES, NULL, "smaps_rollup can be read");
}

/*
 * Check that the stack pointer in /proc/PID/task/PID/syscall is readable, which requires
 * PTRACE_MODE_ATTACH. smaps requires only PTRACE_MODE_READ.
 */
static void check_stack_pointers(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[PROCFS_PATH_SIZE];
	uint64_t addr;
	int pid = patient->process->pid;
	int r;

	proc_file_format_thread_path(path, pid, pid, PROC_SYSCALL);
	r = patient_read_head(patient, path, &text);
	if (r < 0)
		finding_set(ret, ANSWER_NO,
			    r == -EACCES || r == -EPERM ? patient_permission_fix(patient)
							: NULL,
			    "task/%d/syscall: %s", pid, strerror(-r));
	else if (proc_task_parse_syscall(strbuf_text(&text), &addr) == -EBADMSG)
		finding_set(ret, ANSWER_NO, NULL, "task/%d/syscall has no stack pointer",
			    pid);
	else
		finding_set(ret, ANSWER_YES, NULL, "task/%d/syscall can be read", pid);
}

static void check_namespace(const struct patient *patient, enum proc_file file,
			    const char *meaning, struct finding *ret)
{
	const char *name = strrchr(proc_file_name(file), '/') + 1;
	struct stat ours, theirs;
	int r;

	r = proc_file_stat(patient->fs, patient->process->pid, file, &theirs);
	if (r < 0) {
		finding_set(ret, ANSWER_UNKNOWN,
			    r == -EACCES ? patient_permission_fix(patient) : NULL,
			    "ns/%s: %s", name, strerror(-r));
		return;
	}
	r = proc_file_stat(patient->fs, PROCFS_SELF, file, &ours);
	if (r < 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL, "self/ns/%s: %s", name,
			    strerror(-r));
	else if (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		finding_set(ret, ANSWER_YES, NULL, "the same %s namespace", name);
	else
		finding_set(ret, ANSWER_PARTLY, NULL, "another %s namespace: %s", name,
			    meaning);
}

static void check_pid_namespace(const struct patient *patient, struct finding *ret)
{
	check_namespace(patient, PROC_NS_PID,
			"it is in another PID namespace, where processes have other "
			"pids",
			ret);
}

static void check_mount_namespace(const struct patient *patient, struct finding *ret)
{
	check_namespace(patient, PROC_NS_MNT,
			"paths of its files may refer to other "
			"files here",
			ret);
}

static void check_user_namespace(const struct patient *patient, struct finding *ret)
{
	check_namespace(patient, PROC_NS_USER, "its uids are different here", ret);
}

/*
 * Check whether the process is dumpable. If it is not, its files in /proc belong to root,
 * but the directory itself still belongs to the process's effective user
 * (task_dump_owner() in fs/proc/base.c).
 */
static void check_dumpable(const struct patient *patient, struct finding *ret)
{
	const struct process *p = patient->process;
	char path[PROCFS_PATH_SIZE];
	struct stat st;
	int r;

	proc_file_format_path(path, p->pid, PROC_STATUS);
	r = procfs_stat_path(patient->fs, path, &st);
	if (r < 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL, "%s: %s", path, strerror(-r));
	else if (p->uid == UINT32_MAX || p->uid == 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL,
			    "cannot be determined for a process of root");
	else if (st.st_uid != p->uid)
		finding_set(
			ret, ANSWER_NO, patient->may_trace ? NULL : AS_ROOT,
			"not dumpable: it runs as uid %u, but its files in /proc belong to "
			"uid %u",
			p->uid, st.st_uid);
	else
		finding_set(ret, ANSWER_YES, NULL,
			    "its files in /proc belong to its own uid %u", p->uid);
}

/*
 * Return the number of files from which the process executes code: its program and
 * its libraries.
 */
static size_t count_executed_files(const struct mapping_list *mappings)
{
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		size_t j = 0;

		if (!(m->flags & MAPPING_EXEC) || m->inode == 0)
			continue;
		while (j < i && (!(mappings->items[j].flags & MAPPING_EXEC) ||
				 strcmp(mappings->items[j].name, m->name) != 0))
			j++;
		count += j == i;
	}
	return count;
}

static void check_dynamic(const struct patient *patient, struct finding *ret)
{
	size_t count;

	if (!patient->mappings || patient->mappings->count == 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "its mappings are unknown");
		return;
	}
	count = count_executed_files(patient->mappings);
	if (count > 1)
		finding_set(ret, ANSWER_YES, NULL, "code of %zu files is mapped", count);
	else
		finding_set(ret, ANSWER_NO, NULL,
			    "code of one file is mapped: a static program");
}

static void check_allocator(const struct patient *patient, struct finding *ret)
{
	const struct mapping_list *mappings = patient->mappings;

	if (!mappings || mappings->count == 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "its mappings are unknown");
		return;
	}
	if (patient->usage->allocator == ALLOCATOR_PARTITION) {
		finding_set(ret, ANSWER_YES, NULL,
			    "PartitionAlloc (Chromium): its pools are mapped");
		return;
	}
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		const struct library_name *library = library_name_find(m->name);

		if (!library || library->allocator != patient->usage->allocator ||
		    !(m->flags & MAPPING_EXEC))
			continue;
		finding_set(ret, ANSWER_YES, NULL, "%s: %s is mapped",
			    allocator_names[library->allocator], m->name);
		return;
	}
	finding_set(ret, ANSWER_NO, NULL, "no library with a malloc is mapped");
}

/*
 * Check whether the process's heap can be read, without reading it. Both pausing the
 * threads and opening the memory require PTRACE_MODE_ATTACH.
 */
static void check_heap(const struct patient *patient, struct finding *ret)
{
	_cleanup_close_ int fd =
		proc_file_open(patient->fs, patient->process->pid, PROC_MEM);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	enum allocator allocator = patient->usage ? patient->usage->allocator
						  : ALLOCATOR_UNKNOWN;
	uint64_t tracer = 0;

	(void)patient_read(patient, patient->process->pid, PROC_STATUS, &text);
	(void)key_lines_find_u64(strbuf_text(&text), "TracerPid:", &tracer);
	if (!process_has_memory(patient->process))
		finding_set(ret, ANSWER_UNKNOWN, NULL, "there is nothing to read");
	else if (fd < 0)
		finding_set(ret, ANSWER_NO,
			    fd == -EACCES || fd == -EPERM
				    ? patient_permission_fix(patient)
				    : NULL,
			    "mem: %s", strerror(-fd));
	else if (tracer != 0)
		finding_set(ret, ANSWER_NO, heap_error_help(-EBUSY),
			    "process %" PRIu64 " traces it", tracer);
	else if (allocator != ALLOCATOR_UNKNOWN && !allocator_is_walked(allocator))
		finding_set(ret, ANSWER_NO, NULL, "%s cannot be read",
			    allocator_titles[allocator]);
	else
		finding_set(ret, ANSWER_YES, NULL,
			    "mem can be opened, and no other process traces it");
}

/*
 * Check the conditions for injecting the helper library that are visible from outside the
 * process. Other conditions can be checked only after a thread has been stopped.
 */
static void check_helper(const struct patient *patient, struct finding *ret)
{
	_cleanup_close_ int fd = proc_dir_open(patient->fs, patient->process->pid);
	const struct probe_request request = {
		.fs = patient->fs,
		.pid = patient->process->pid,
		.start_ticks = patient->process->start_ticks,
		.may_inject = true,
	};
	const char *reason = NULL;
	int r = fd < 0 ? fd : 0;

	if (!process_has_memory(patient->process)) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "it has no allocator");
		return;
	}
	if (r == 0)
		r = gates_check(&request, fd, &reason);
	if (r < 0)
		finding_set(ret, ANSWER_NO,
			    r == -EPERM || r == -EACCES ? patient_permission_fix(patient)
							: NULL,
			    "%s", reason ? reason : strerror(-r));
	else
		finding_set(ret, ANSWER_YES, NULL, "no obstacle is visible from outside");
}

/*
 * Check whether memstate count -p finds code addresses for its breakpoints, without
 * setting a breakpoint.
 */
static void check_count_places(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r;

	if (!patient->mappings || patient->mappings->count == 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "its mappings are unknown");
		return;
	}
	r = count_attach_find(patient->fs, patient->process->pid, patient->mappings,
			      &text);
	finding_set(ret, r == 0 ? ANSWER_YES : ANSWER_NO,
		    r == -EPERM || r == -EACCES ? patient_permission_fix(patient) : NULL,
		    "%s%s", r == 0 ? "in " : "", strbuf_text(&text));
}

static const struct check checks[] = {
	{ "memory", "it has memory of its own", false, CHECK_ANYWHERE, check_memory },
	{ "smaps", "its mappings and the state of their pages", true, CHECK_ANYWHERE,
	  check_smaps },
	{ "smaps_rollup", "its totals in one read", false, CHECK_ANYWHERE, check_rollup },
	{ "stack_pointers", "the location of its threads' stacks", false, CHECK_ANYWHERE,
	  check_stack_pointers },
	{ "dumpable", "its owner may read its memory map", false, CHECK_LIVE,
	  check_dumpable },
	{ "pid_namespace", "it is visible in this pid namespace", false, CHECK_LIVE,
	  check_pid_namespace },
	{ "mount_namespace", "it sees the same files as memstate", false, CHECK_LIVE,
	  check_mount_namespace },
	{ "user_namespace", "its uids have the same meaning here", false, CHECK_LIVE,
	  check_user_namespace },
	{ "dynamic", "its libraries are identified by name", false, CHECK_ANYWHERE,
	  check_dynamic },
	{ "allocator", "which malloc it uses", false, CHECK_ANYWHERE, check_allocator },
	{ "heap", "the contents of its malloc: live blocks, free pages, fragments", false,
	  CHECK_LIVE, check_heap },
	{ "helper", "its allocator can be queried, by an injected thread", false,
	  CHECK_LIVE, check_helper },
	{ "count_places", "malloc and related functions are found, for breakpoints",
	  false, CHECK_LIVE, check_count_places },
};

const struct check_list doctor_process_checks = {
	"process",
	checks,
	sizeof(checks) / sizeof(checks[0]),
};
