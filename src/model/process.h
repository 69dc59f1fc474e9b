/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - who a process is: the facts of /proc/PID/stat and its kin. Plain data.
 *
 * A process is pid + start time: a pid alone may be reused, and exec keeps both (the name
 * changes).
 */
#ifndef MS_MODEL_PROCESS_H
#define MS_MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_COMM_SIZE 64 /* TASK_COMM_LEN is 16; kernel workers show up to 64 in stat */

struct process {
	int pid;
	int ppid;
	uint32_t uid;		  /* effective; UINT32_MAX if not known */
	uint32_t thread_count;
	uint64_t start_ticks;	  /* since boot, in clock ticks: proc_pid_stat(5) field 22 */
	uint64_t stat_rss_bytes;  /* field 24: cheap, but may lag behind by some pages per CPU */
	uint64_t stat_size_bytes; /* field 23 */
	uint64_t minor_fault_count;
	uint64_t major_fault_count;
	char state;		  /* R S D Z T t X I … */
	bool is_kernel_thread;
	char comm[PROCESS_COMM_SIZE]; /* raw bytes, any but NUL */
};

static inline bool process_is_same(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

/*
 * A zombie, which waits for its parent to ask how it ended, or dead. With more threads
 * only the first one has ended: the process lives on in the others.
 */
static inline bool process_has_ended(const struct process *p)
{
	return (p->state == 'Z' || p->state == 'X') && p->thread_count <= 1;
}

/* Zombies and kernel threads have no memory of their own; that is no error. */
static inline bool process_has_memory(const struct process *p)
{
	return !p->is_kernel_thread && !process_has_ended(p);
}

/* What it is that has none, to follow "a" or "A"; NULL if it has memory. */
static inline const char *process_no_memory_text(const struct process *p)
{
	if (p->is_kernel_thread)
		return "kernel thread: it has no memory of its own";
	return process_has_ended(p) ? "zombie: its memory is gone, only its exit status waits "
				      "for its parent"
				    : NULL;
}

#endif
