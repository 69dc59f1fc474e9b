/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - the identity of a process, and the values read from /proc/PID/stat and
 * related files. Plain data.
 *
 * A process is identified by pid and start time, because the kernel reuses pids.
 * execve(2) changes the name, but neither the pid nor the start time.
 */
#ifndef MS_MODEL_PROCESS_H
#define MS_MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TASK_COMM_LEN is 16, but stat shows up to 64 bytes for kernel workers. */
#define PROCESS_COMM_SIZE 64

/*
 * Flags in field 9 of stat (include/linux/sched.h): PF_FORKNOEXEC and PF_KTHREAD.
 */
#define PROCESS_FLAG_FORK 0x00000040
#define PROCESS_FLAG_KERNEL_THREAD 0x00200000

struct process {
	int pid;
	int ppid;
	uint32_t uid; /* effective user ID; UINT32_MAX if unknown */
	uint32_t thread_count;
	/* start time in clock ticks since boot: proc_pid_stat(5) field 22 */
	uint64_t start_ticks;
	/*
	 * Rss in field 24 of stat, which may differ from the exact Rss by some pages per
	 * CPU. A lister (proc/process/lister.h) stores the exact Rss of statm here.
	 */
	uint64_t stat_rss_bytes;
	uint64_t stat_size_bytes; /* virtual size, field 23 of stat */
	uint64_t minor_fault_count;
	uint64_t major_fault_count;
	char state; /* state letter as in stat: R, S, D, Z, T, t, X, I, … */
	bool is_kernel_thread;
	/* true if the process has not called execve() since it was forked */
	bool is_fork;
	/* name as raw bytes; may contain any byte except NUL */
	char comm[PROCESS_COMM_SIZE];
};

static inline bool process_is_same(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

/*
 * Return true if the process is dead or a zombie. A process whose main thread has ended
 * continues to run while it has other threads.
 */
static inline bool process_has_ended(const struct process *p)
{
	return (p->state == 'Z' || p->state == 'X') && p->thread_count <= 1;
}

/*
 * Return true if the process has its own memory, which zombies and kernel threads do not
 * have.
 */
static inline bool process_has_memory(const struct process *p)
{
	return !p->is_kernel_thread && !process_has_ended(p);
}

/*
 * Return a description of a process without memory, worded to follow "a" or "A", or NULL
 * if the process has memory. The string is static.
 */
static inline const char *process_no_memory_text(const struct process *p)
{
	if (p->is_kernel_thread)
		return "kernel thread, which has no memory of its own";
	return process_has_ended(p)
		       ? "zombie, whose memory has been freed; only its exit status "
			 "waits for its parent"
		       : NULL;
}

#endif
