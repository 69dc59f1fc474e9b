/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_cause - why the kernel killed, from its report: whose limit it was, and what had
 * filled it. Pure.
 *
 * A table of rules in order: the first that holds is the cause, the others are beside it.
 * A report is of one moment: what grew, and how fast, is not in it.
 */
#ifndef MS_CLASSIFY_OOM_CAUSE_H
#define MS_CLASSIFY_OOM_CAUSE_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

enum oom_cause {
	OOM_CAUSE_NODE,	     /* the machine had no more */
	OOM_CAUSE_CPUSET,    /* the nodes that it may have memory from had no more */
	OOM_CAUSE_ANCESTOR,  /* a limit above the victim's own group */
	OOM_CAUSE_LEFTOVERS, /* files on tmpfs that no process has */
	OOM_CAUSE_SHMEM,
	OOM_CAUSE_KERNEL_MEMORY,
	OOM_CAUSE_SWAP,	 /* that was full, too */
	OOM_CAUSE_MANY,	 /* no process had most of it */
	OOM_CAUSE_MEMORY, /* private memory of one process */
	OOM_CAUSE_UNKNOWN,
	OOM_CAUSE_COUNT_
};

struct oom_cause_info {
	const char *name; /* for machines */
	const char *title;
	const char *advice;
};
extern const struct oom_cause_info oom_causes[OOM_CAUSE_COUNT_];

/* What the limit was filled with. */
struct oom_filling {
	uint64_t limit_bytes; /* usage where there is no limit */
	uint64_t anon_bytes, shmem_bytes, kernel_bytes, file_bytes; /* kernel: without what can be taken back */
	uint64_t task_rss_bytes, largest_rss_bytes; /* sum over the tasks, and the most of one */
};

void oom_filling_find(const struct oom_kill *kill, struct oom_filling *ret);

/*
 * Whether a cause holds; the figures that decide it are appended to *why then, in words
 * that end no sentence.
 */
bool oom_cause_holds(enum oom_cause cause, const struct oom_kill *kill,
		     const struct oom_filling *filling, struct strbuf *why);

/* The first that holds: the last one always does. */
enum oom_cause oom_cause_find(const struct oom_kill *kill, const struct oom_filling *filling);

#endif
