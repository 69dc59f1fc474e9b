/* SPDX-License-Identifier: GPL-2.0-or-later */
/* victim - parse kernel log lines that name the process that the OOM killer kills. */
#ifndef MS_PROC_KMSG_VICTIM_H
#define MS_PROC_KMSG_VICTIM_H

#include "model/oom_kill.h"

enum kmsg_victim_line {
	KMSG_NO_VICTIM, /* the line does not name a victim */
	/* the line "oom-kill:…": the constraint, the cgroups and the chosen process */
	KMSG_SUMMARY,
	/*
	 * the line "Kill process 1 (x) score …": older kernels may kill a child instead
	 */
	KMSG_CHOSEN,
	KMSG_KILLED, /* the line "Killed process 1 (x) …" */
	/* the chosen process is not killed because it is already exiting */
	KMSG_SKIPPED,
	KMSG_UNKILLABLE, /* the kernel found no process that it may kill */
};

/* The values parsed from a line that names a victim. */
struct kmsg_victim {
	enum oom_constraint constraint; /* OOM_UNKNOWN if the line names no constraint */
	/*
	 * members that the line lacks are unknown; pid is 0 if the line names no process
	 */
	struct oom_task task;
	/*
	 * the line has a UID (Linux 5.3 and later), which rules out that a child
	 * was killed instead
	 */
	bool has_uid;
};

enum kmsg_victim_line kmsg_victim_read(const char *line, struct kmsg_victim *ret);

/*
 * Parse the cgroup paths in an "oom-kill:…" line, and the cpuset of the process that
 * requested memory, and store them in *kill.
 */
void kmsg_victim_read_paths(const char *line, struct oom_kill *kill);

/* Return the row for pid in the report's task table, or NULL. */
const struct oom_task *kmsg_find_task(const struct oom_kill *k, int pid);

/*
 * Fill in the victim's amounts from its row in the task table if the "Killed process"
 * line is missing. row may be NULL.
 */
void kmsg_victim_complete(struct oom_task *victim, const struct oom_task *row);

/*
 * Return the amount after a key, such as 24192 kB in "anon-rss:24192kB", in
 * bytes. Return BYTES_UNKNOWN if the text lacks the key, and CGROUP_NO_LIMIT for
 * cgroup v1's "no limit".
 */
uint64_t kmsg_find_kb(const char *text, const char *key);

/* Return the number after a key, or COUNT_UNKNOWN if the text lacks the key. */
uint64_t kmsg_find_count(const char *text, const char *key);

/*
 * Copy the text from `from` up to `end` to a buffer of `size` bytes, truncating the text
 * if necessary. The copy is NUL-terminated.
 */
void kmsg_copy(char *to, size_t size, const char *from, const char *end);

#endif
