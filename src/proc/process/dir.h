/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dir - access the files of a process relative to a descriptor of its directory in /proc
 * (process_fd), or of the directory of its threads (task_fd). These descriptors never
 * refer to a later process with the same pid.
 *
 * Errors are those of the system calls: -ENOENT or -ESRCH if the process has ended.
 */
#ifndef MS_PROC_PROCESS_DIR_H
#define MS_PROC_PROCESS_DIR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "proc/process/file.h"
#include "proc/system/procfs.h"

/*
 * Open the directory of a process. proc_dir_open() opens it in a live or captured procfs,
 * with the errors of procfs.h. proc_dir_open_live() opens it in the kernel's /proc.
 * proc_dir_find() opens it with O_PATH. The caller closes the descriptor.
 */
int proc_dir_open(const struct procfs *fs, int pid);
int proc_dir_open_live(int pid);
int proc_dir_find(const struct procfs *fs, int pid);

/*
 * Open the root directory of a process with O_PATH. In a captured tree, the root
 * directory of a process is within the tree.
 */
int proc_dir_open_root(const struct procfs *fs, int pid);

/*
 * Open a file of the process, with O_CLOEXEC. Return a descriptor that the caller
 * closes, or -errno.
 */
int proc_dir_open_file(int process_fd, enum proc_file file, int flags);

/*
 * Append the content of a file of the process, at most `limit` bytes. Return 0, -EFBIG
 * or -errno.
 */
int proc_dir_read(int process_fd, enum proc_file file, size_t limit, struct strbuf *out);

/* Call stat(2) on the file that a symlink such as exe refers to. Return 0 or -errno. */
int proc_dir_stat(int process_fd, enum proc_file file, struct stat *ret);

/*
 * Read the target of a symlink. Return the length of the target, at most `size`, or
 * -errno. The target is not NUL-terminated.
 */
ssize_t proc_dir_read_link(int process_fd, enum proc_file file, char *ret, size_t size);

/*
 * Open the program of the process, or the file that the process has mapped at exactly
 * these addresses, as described in foreign_file.h. Opening a mapped file requires
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
 */
int proc_dir_open_program(int process_fd);
int proc_dir_open_mapped(int process_fd, uint64_t start_addr, uint64_t end_addr);

/* Return true if the process has a file mapped at exactly these addresses. */
bool proc_mapped_exists(const struct procfs *fs, int pid, uint64_t start_addr,
			uint64_t end_addr);

/*
 * Find a mapped file of any type, and open it with O_PATH. The mapping must have exactly
 * these addresses.
 */
int proc_mapped_find(const struct procfs *fs, int pid, uint64_t start_addr,
		     uint64_t end_addr);

/*
 * Open the directory of the process's threads. proc_dir_open_threads() returns a
 * descriptor that the caller closes, or -errno. proc_dir_list_threads() opens the
 * directory for readdir(3), and returns NULL on failure.
 */
int proc_dir_open_threads(int process_fd);
DIR *proc_dir_list_threads(int process_fd);

/*
 * Append the contents of a thread's file, or check that the thread exists. Reading
 * returns 0, -EFBIG or -errno.
 */
int proc_dir_read_thread(int process_fd, int tid, enum proc_file file, size_t limit,
			 struct strbuf *out);
bool proc_dir_has_thread(int process_fd, int tid);

/*
 * Open or read a file of a thread, or check that the thread exists, relative to task_fd,
 * the directory of the threads. proc_thread_open() allocates no memory, so a child
 * process forked from a multithreaded process can call it.
 */
int proc_thread_open(int task_fd, int tid, enum proc_file file, int flags);
int proc_thread_read(int task_fd, int tid, enum proc_file file, size_t limit,
		     struct strbuf *out);
bool proc_thread_exists(int task_fd, int tid);

#endif
