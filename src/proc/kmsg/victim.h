/* SPDX-License-Identifier: GPL-2.0-or-later */
/* victim - parse kernel log lines that name the victim of the OOM killer. */
#ifndef MS_PROC_KMSG_VICTIM_H
#define MS_PROC_KMSG_VICTIM_H

#include "model/oom_kill.h"

enum kmsg_victim_line {
	KMSG_NO_VICTIM, /* the line does not name a victim */
	/*
	 * the line "oom-kill:…", which lists the constraint, the cgroups and the chosen
	 * process
	 */
	KMSG_SUMMARY,
	/*
	 * The line "Kill process 1 (x) score …". Older kernels may then kill a child of
	 * the process instead.
	 */
	KMSG_CHOSEN,
	KMSG_KILLED, /* the line "Killed process 1 (x) …" */
	/* the kernel does not kill the chosen process because it is already exiting */
	KMSG_SKIPPED,
	KMSG_UNKILLABLE, /* the kernel found no process that it may kill */
};

/* The values in a line that names a victim. */
struct kmsg_victim {
	enum oom_constraint constraint; /* OOM_UNKNOWN if the line names no constraint */
	/*
	 * the process in the line; members that are missing from the line are unknown,
	 * and pid is 0 if the line does not name a process
	 */
	struct oom_task task;
	/*
	 * true if the line contains a UID, as in Linux 5.3 and later, which always kill
	 * the chosen process instead of one of its children
	 */
	bool has_uid;
};

enum kmsg_victim_line kmsg_victim_read(const char *line, struct kmsg_victim *ret);

/*
 * Parse the paths of the cgroups in an "oom-kill:…" line, and the cpuset of the process
 * whose allocation failed. Store them in *kill.
 */
void kmsg_victim_read_paths(const char *line, struct oom_kill *kill);

/* Return the row for pid in the report's table of tasks, or NULL. */
const struct oom_task *kmsg_find_task(const struct oom_kill *k, int pid);

/*
 * Set the victim's amounts from its row in the table of tasks, if the "Killed process"
 * line is missing. `row` may be NULL.
 */
void kmsg_victim_complete(struct oom_task *victim, const struct oom_task *row);

/*
 * Return the amount after a key in bytes, such as 24192 kB in "anon-rss:24192kB". Return
 * BYTES_UNKNOWN if the text does not contain the key, and CGROUP_NO_LIMIT for cgroup v1's
 * "no limit".
 */
uint64_t kmsg_find_kb(const char *text, const char *key);

/*
 * Return the number after a key, or COUNT_UNKNOWN if the text does not contain the key.
 */
uint64_t kmsg_find_count(const char *text, const char *key);

/*
 * Copy the text from `from` up to `end` to a buffer of `size` bytes. A text that is too
 * long is truncated. The copy is NUL-terminated.
 */
void kmsg_copy(char *to, size_t size, const char *from, const char *end);

#endif
