/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"

#define OWN_PATH_SIZE 64

/*
 * Names of the files in a process's directory. tests/lint/check-procfs.sh reads
 * this table.
 */
static const char *const names[PROC_FILE_COUNT_] = {
	[PROC_ATTR_CURRENT] = "attr/current",
	[PROC_AUXV] = "auxv",
	[PROC_CLEAR_REFS] = "clear_refs",
	[PROC_CMDLINE] = "cmdline",
	[PROC_COMM] = "comm",
	[PROC_CWD] = "cwd",
	[PROC_ENVIRON] = "environ",
	[PROC_EXE] = "exe",
	[PROC_FDS] = "fd",
	[PROC_MAPS] = "maps",
	[PROC_MEM] = "mem",
	[PROC_MOUNTINFO] = "mountinfo",
	[PROC_NS_IPC] = "ns/ipc",
	[PROC_NS_MNT] = "ns/mnt",
	[PROC_NS_PID] = "ns/pid",
	[PROC_NS_USER] = "ns/user",
	[PROC_PAGEMAP] = "pagemap",
	[PROC_ROOT] = "root",
	[PROC_SMAPS] = "smaps",
	[PROC_SMAPS_ROLLUP] = "smaps_rollup",
	[PROC_STAT] = "stat",
	[PROC_STATM] = "statm",
	[PROC_STATUS] = "status",
	[PROC_SYSCALL] = "syscall",
	[PROC_TASK] = "task",
};

const char *proc_file_name(enum proc_file file)
{
	return names[file];
}

void proc_file_format_path(char path[PROCFS_PATH_SIZE], int pid, enum proc_file file)
{
	procfs_format_path(path, pid, names[file]);
}

void proc_file_format_thread_path(char path[PROCFS_PATH_SIZE], int pid, int tid,
				  enum proc_file file)
{
	snprintf(path, PROCFS_PATH_SIZE, "%d/task/%d/%s", pid, tid, names[file]);
}

int proc_file_open(const struct procfs *fs, int pid, enum proc_file file)
{
	return procfs_open_file(fs, pid, names[file]);
}

int proc_file_open_thread(const struct procfs *fs, int pid, int tid, enum proc_file file)
{
	char path[PROCFS_PATH_SIZE];

	snprintf(path, sizeof(path), "task/%d/%s", tid, names[file]);
	return procfs_open_file(fs, pid, path);
}

int proc_file_read(const struct procfs *fs, int pid, enum proc_file file, size_t limit,
		   struct strbuf *out)
{
	return procfs_read_file(fs, pid, names[file], limit, out);
}

int proc_file_stat(const struct procfs *fs, int pid, enum proc_file file,
		   struct stat *ret)
{
	char path[PROCFS_PATH_SIZE];

	proc_file_format_path(path, pid, file);
	return procfs_stat_path(fs, path, ret);
}

int proc_file_read_link(const struct procfs *fs, int pid, enum proc_file file, char *ret,
			size_t size)
{
	return procfs_read_link(fs, pid, names[file], ret, size);
}

static void format_own(char path[OWN_PATH_SIZE], enum proc_file file)
{
	snprintf(path, OWN_PATH_SIZE, "/proc/self/%s", names[file]);
}

int proc_own_open(enum proc_file file, int flags)
{
	char path[OWN_PATH_SIZE];
	int fd;

	format_own(path, file);
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

int proc_own_read(enum proc_file file, size_t limit, struct strbuf *out)
{
	char path[OWN_PATH_SIZE];

	format_own(path, file);
	return io_read_file_at(AT_FDCWD, path, limit, out);
}

int proc_own_stat(enum proc_file file, struct stat *ret)
{
	char path[OWN_PATH_SIZE];

	format_own(path, file);
	return stat(path, ret) < 0 ? -errno : 0;
}
