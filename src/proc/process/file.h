/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - the names of a process's files in /proc, see proc_pid(5). Other layers do not
 * contain the paths of these files. dir.h accesses the files relative to a descriptor of
 * the process's directory.
 */
#ifndef MS_PROC_PROCESS_FILE_H
#define MS_PROC_PROCESS_FILE_H

#include <sys/stat.h>

#include "base/strbuf.h"
#include "proc/system/procfs.h"

enum proc_file {
	PROC_ATTR_CURRENT,
	PROC_AUXV,
	PROC_CLEAR_REFS,
	PROC_CMDLINE,
	PROC_COMM,
	PROC_CWD,
	PROC_ENVIRON,
	PROC_EXE,
	PROC_FDS, /* directory with a symlink for each open descriptor */
	PROC_MAPS,
	PROC_MEM,
	PROC_MOUNTINFO,
	PROC_NS_IPC,
	PROC_NS_MNT,
	PROC_NS_PID,
	PROC_NS_USER,
	PROC_PAGEMAP,
	PROC_ROOT,
	PROC_SMAPS,
	PROC_SMAPS_ROLLUP,
	PROC_STAT,
	PROC_STATM,
	PROC_STATUS,
	PROC_SYSCALL,
	/*
	 * directory with a subdirectory for each thread, whose files have the same names
	 */
	PROC_TASK,
	PROC_FILE_COUNT_,
};

/* Path of the program that memstate itself runs. */
#define PROC_OWN_PROGRAM "/proc/self/exe"

/* Return the path of a file relative to the process's directory, such as "ns/pid". */
const char *proc_file_name(enum proc_file file);

/*
 * Format the path "PID/FILE" or "PID/task/TID/FILE", for procfs_open_path() and for
 * messages.
 */
void proc_file_format_path(char path[PROCFS_PATH_SIZE], int pid, enum proc_file file);
void proc_file_format_thread_path(char path[PROCFS_PATH_SIZE], int pid, int tid,
				  enum proc_file file);

/*
 * Open or read a file of a process or thread, like procfs_open_file() and
 * procfs_read_file().
 */
int proc_file_open(const struct procfs *fs, int pid, enum proc_file file);
int proc_file_open_thread(const struct procfs *fs, int pid, int tid, enum proc_file file);
int proc_file_read(const struct procfs *fs, int pid, enum proc_file file, size_t limit,
		   struct strbuf *out);

/*
 * Call stat(2) on a file of a process, or read a symlink, like procfs_stat_path() and
 * procfs_read_link().
 */
int proc_file_stat(const struct procfs *fs, int pid, enum proc_file file,
		   struct stat *ret);
int proc_file_read_link(const struct procfs *fs, int pid, enum proc_file file, char *ret,
			size_t size);

/*
 * Open, read or stat a file of memstate's own process. These functions always use the
 * kernel's /proc, even if the target processes are in a capture. Each function returns
 * -errno on failure. proc_own_open() returns a descriptor that the caller closes.
 */
int proc_own_open(enum proc_file file, int flags);
int proc_own_read(enum proc_file file, size_t limit, struct strbuf *out);
int proc_own_stat(enum proc_file file, struct stat *ret);

#endif
