/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/doctor/facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "base/text.h"
#include "cmd/core/rights.h"
#include "proc/process/file.h"
#include "proc/process/list.h"

#define FILE_SIZE_MAX (1 << 22)

static bool has_capability(const struct patient *patient, unsigned int bit)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t mask;

	if (patient_read(patient, PROCFS_SELF, PROC_STATUS, &text) < 0)
		return false;
	return key_lines_find_hex(strbuf_text(&text), "CapEff:", &mask) &&
	       mask >> bit & 1;
}

void patient_init(struct patient *patient, const struct procfs *fs)
{
	/* value of CAP_SYS_PTRACE in <linux/capability.h> */
	const unsigned int cap_sys_ptrace = 19;
	_cleanup_strbuf_ struct strbuf release = STRBUF_INIT;
	struct stat st;

	memset(patient, 0, sizeof(*patient));
	patient->fs = fs;
	patient->is_saved = fs->is_foreign ||
			    proc_file_stat(fs, PROCFS_SELF, PROC_STAT, &st) < 0;
	patient->may_trace = has_capability(patient, cap_sys_ptrace);
	if (patient_read_system(patient, SYSTEM_OSRELEASE, &release) < 0)
		return;
	strbuf_truncate(&release, strcspn(strbuf_text(&release), "\n"));
	text_copy(patient->kernel, sizeof(patient->kernel), strbuf_text(&release));
	if (sscanf(patient->kernel, "%u.%u", &patient->kernel_major,
		   &patient->kernel_minor) < 2)
		patient->kernel_major = patient->kernel_minor = 0;
	patient->is_perfmon_enough =
		rights_is_perfmon_enough(patient->kernel_major, patient->kernel_minor);
}

const char *patient_permission_fix(const struct patient *patient)
{
	if (patient->is_saved)
		return NULL;
	if (patient->may_trace)
		return "CAP_SYS_PTRACE is present: a security module or a namespace "
		       "denies it";
	if (!patient->process)
		return AS_ROOT HOW_TO_GRANT("cap_sys_ptrace");
	if (patient->process->uid == geteuid())
		return AS_ROOT;
	return "run memstate as its owner or as root, or grant it CAP_SYS_PTRACE";
}

const char *patient_read_fix(const struct patient *patient)
{
	if (patient->is_saved || patient->may_trace || !patient->is_perfmon_enough)
		return patient_permission_fix(patient);
	if (!patient->process)
		return "run memstate as root, or grant it CAP_PERFMON" HOW_TO_GRANT(
			"cap_perfmon");
	if (patient->process->uid == geteuid())
		return "run memstate as root, or grant it CAP_PERFMON";
	return "run memstate as its owner or as root, or grant it CAP_PERFMON";
}

bool patient_has_kernel(const struct patient *patient, unsigned int major,
			unsigned int minor)
{
	if (patient->kernel_major != major)
		return patient->kernel_major > major;
	return patient->kernel_minor >= minor;
}

void finding_set(struct finding *ret, enum answer answer, const char *fix,
		 const char *format, ...)
{
	va_list args;

	ret->answer = answer;
	ret->fix = answer == ANSWER_YES ? NULL : fix;
	strbuf_clear(&ret->fact);
	va_start(args, format);
	strbuf_vaddf(&ret->fact, format, args);
	va_end(args);
}

int patient_read(const struct patient *patient, int pid, enum proc_file file,
		 struct strbuf *out)
{
	char path[PROCFS_PATH_SIZE];

	proc_file_format_path(path, pid, file);
	return procfs_read_path(patient->fs, path, FILE_SIZE_MAX, out);
}

int patient_read_system(const struct patient *patient, enum system_file file,
			struct strbuf *out)
{
	return system_file_read(patient->fs, file, FILE_SIZE_MAX, out);
}

int patient_read_head(const struct patient *patient, const char *path, struct strbuf *out)
{
	_cleanup_close_ int fd = procfs_open_path(patient->fs, path);
	char block[4096];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, block, sizeof(block));
	if (n < 0)
		return -errno;
	strbuf_add(out, block, (size_t)n);
	return (int)n;
}

/*
 * Open tally->file for process pid. Open PROC_SYSCALL for the main thread, because a
 * capture contains this file only for threads.
 */
static int open_tallied(const struct tally *tally, int pid)
{
	if (tally->file == PROC_SYSCALL)
		return proc_file_open_thread(tally->patient->fs, pid, pid, tally->file);
	return proc_file_open(tally->patient->fs, pid, tally->file);
}

static int tally_process(void *context, const struct process *p)
{
	struct tally *tally = context;
	_cleanup_close_ int fd = -1;

	if (!process_has_memory(p))
		return 0;
	fd = open_tallied(tally, p->pid);
	if (fd == -ESRCH)
		return 0;
	tally->count++;
	if (fd < 0) {
		/*
		 * prefer any other error to a permission error, because permission errors
		 * are common
		 */
		if (fd != -EOPNOTSUPP && (tally->error == 0 || tally->error == -EACCES ||
					  tally->error == -EPERM))
			tally->error = fd;
		return 0;
	}
	tally->openable++;
	if (!tally->first_pid)
		tally->first_pid = p->pid;
	return 0;
}

struct tally patient_tally(const struct patient *patient, enum proc_file file)
{
	struct tally tally = { .patient = patient, .file = file };

	(void)proc_list_read(patient->fs, LIST_STAT, tally_process, &tally);
	return tally;
}

void find_tally(const struct tally *tally, const char *fix, struct finding *ret)
{
	enum answer answer = ANSWER_YES;

	if (tally->openable == 0)
		answer = ANSWER_NO;
	else if (tally->openable < tally->count)
		answer = ANSWER_PARTLY;
	if (tally->error == 0 || tally->error == -EACCES || tally->error == -EPERM)
		finding_set(ret, answer, fix, "%zu of %zu processes", tally->openable,
			    tally->count);
	else
		finding_set(ret, answer, NULL, "%zu of %zu processes: %s",
			    tally->openable, tally->count, strerror(-tally->error));
}
