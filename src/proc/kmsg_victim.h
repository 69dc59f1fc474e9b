/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_victim - the lines of the kernel's log that name who is killed.
 */
#ifndef MS_PROC_KMSG_VICTIM_H
#define MS_PROC_KMSG_VICTIM_H

#include "model/oom_kill.h"

enum kmsg_victim_line {
	KMSG_NO_VICTIM,	 /* another line */
	KMSG_SUMMARY,	 /* "oom-kill:…": limit, groups and the chosen process */
	KMSG_CHOSEN,	 /* "Kill process 1 (x) score …": older kernels may kill a child instead */
	KMSG_KILLED,	 /* "Killed process 1 (x) …" */
	KMSG_SKIPPED,	 /* the chosen process is exiting: it is not killed */
	KMSG_UNKILLABLE, /* nothing may be killed */
};

/* What such a line says. */
struct kmsg_victim {
	enum oom_constraint constraint; /* OOM_UNKNOWN: the line does not tell */
	struct oom_task task;		/* as far as it tells; pid 0: none */
	bool has_uid;			/* Linux 5.3 and later: no child is killed instead */
};

enum kmsg_victim_line kmsg_victim_read(const char *line, struct kmsg_victim *ret);

/* The rest of "oom-kill:…": paths, and the cpuset of who wanted memory. */
void kmsg_victim_read_paths(const char *line, struct oom_kill *kill);

/* "…kB" after a key, as in "anon-rss:24192kB", or BYTES_UNKNOWN. */
uint64_t kmsg_find_kb(const char *text, const char *key);

/* The number after a key, or COUNT_UNKNOWN. */
uint64_t kmsg_find_count(const char *text, const char *key);

/* Copy from `from` up to `end`, or as much of it as there is room for. */
void kmsg_copy(char *to, size_t size, const char *from, const char *end);

#endif
