/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task - read small files of one process: the stack pointers of its threads, its
 * command name and its command line.
 */
#ifndef MS_PROC_PROCESS_TASK_H
#define MS_PROC_PROCESS_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/process.h"
#include "proc/system/procfs.h"

struct address_list {
	uint64_t *items;
	size_t count;
	size_t capacity;
};

#define ADDRESS_LIST_INIT  \
	{                  \
		NULL, 0, 0 \
	}

void address_list_release(struct address_list *list);

/*
 * Append the user stack pointer of each thread that is not running on a CPU, from
 * task/TID/syscall (proc_pid_syscall(5)). Return 0, -ESRCH, -EOPNOTSUPP, or -EACCES:
 * reading this file requires permission to trace the process.
 */
int proc_task_read_stack_pointers(const struct procfs *fs, int pid,
				  struct address_list *list);

/*
 * Return the tid of a live thread of pid, or -ESRCH. Once the main thread of a process
 * has ended, only the /proc directories of the other threads show the process's memory.
 */
int proc_task_find_alive(const struct procfs *fs, int pid);

/*
 * Find the stack pointer in the text of task/TID/syscall. Return 0, -ENODATA if the
 * thread is running, or -EBADMSG.
 */
int proc_task_parse_syscall(const char *text, uint64_t *ret_stack_addr);

/*
 * Read the process's command name from comm, as raw bytes. Return 0, or -errno as
 * procfs_read_file() does, with *ret_comm unchanged.
 */
int proc_task_read_comm(const struct procfs *fs, int pid,
			char ret_comm[PROCESS_COMM_SIZE]);

/*
 * Return true if the process's program was compiled by Go. The Go linker stores a note
 * with the build id at the start of the file. Return false if the file cannot be read.
 */
bool proc_task_is_go(const struct procfs *fs, int pid);

/*
 * Read the command line, at most 64 KiB, as raw bytes with the arguments joined by
 * spaces. The result is "" if there are no arguments. Return 0, or -errno as
 * procfs_open_file() does. The caller frees *ret.
 */
int proc_task_read_command(const struct procfs *fs, int pid, char **ret);

/*
 * Read the beginning of the command line in the kernel's format, in which each argument
 * is followed by a NUL. Return 0, or -errno as procfs_open_file() does.
 */
int proc_task_read_arguments(const struct procfs *fs, int pid, char *to, size_t size,
			     size_t *ret_length);

#endif
