/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_task - small files of one process: its threads' stack pointers, its command line.
 */
#ifndef MS_PROC_PROC_TASK_H
#define MS_PROC_PROC_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/process.h"
#include "proc/procfs.h"

struct address_list {
	uint64_t *items;
	size_t count;
	size_t capacity;
};

#define ADDRESS_LIST_INIT { NULL, 0, 0 }

void address_list_release(struct address_list *list);

/*
 * Append the user stack pointer of each thread that is not running just now, from
 * task/TID/syscall (proc_pid_syscall(5)). Returns 0, -ESRCH, -EOPNOTSUPP, or -EACCES:
 * unlike the rest of proc/, this file needs the right to trace the process.
 */
int proc_task_read_stack_pointers(const struct procfs *fs, int pid, struct address_list *list);

/*
 * The memory of a process whose first thread has ended is in the directories of the
 * others only. Returns one of them that lives, or -ESRCH.
 */
int proc_task_find_living(const struct procfs *fs, int pid);

/* One line of that file. Returns 0, -ENODATA ("running"), or -EBADMSG. */
int proc_task_parse_syscall(const char *text, uint64_t *ret_stack_addr);

/*
 * The name in comm, raw bytes. Returns 0 or -errno as procfs_read_file(), *ret_comm then
 * untouched.
 */
int proc_task_read_comm(const struct procfs *fs, int pid, char ret_comm[PROCESS_COMM_SIZE]);

/*
 * Whether the program of a process was compiled by Go: its linker puts a note with the
 * build's id at the beginning of the file. False if the file cannot be read.
 */
bool proc_task_is_go(const struct procfs *fs, int pid);

/*
 * The command line, arguments joined by blanks, "" if there is none; raw bytes. At most
 * 64 KiB of it. Returns 0 or -errno as procfs_open_file(). The caller frees *ret.
 */
int proc_task_read_command(const struct procfs *fs, int pid, char **ret);

#endif
