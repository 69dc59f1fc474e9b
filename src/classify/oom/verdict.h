/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - determine why a process ended when memory was short. A table of rules
 * is evaluated in order. The first rule that holds is the verdict; all others that
 * hold are reported in addition. Pure.
 */
#ifndef MS_CLASSIFY_OOM_VERDICT_H
#define MS_CLASSIFY_OOM_VERDICT_H

#include "base/strbuf.h"
#include "classify/oom/evidence.h"

enum oom_verdict {
	/*
	 * Killed by a program that watches memory and counts LazyFree
	 * as used, not by the kernel.
	 */
	OOM_WHY_RSS_WATCHER,
	OOM_WHY_NOT_KERNEL,
	OOM_WHY_SYSRQ, /* a user requested the kill, and memory had not run out */
	OOM_WHY_NODE,  /* the machine ran out of memory */
	/* the NUMA nodes that the process may use ran out of memory */
	OOM_WHY_CPUSET,
	OOM_WHY_ANCESTOR,  /* an ancestor's limit was reached */
	OOM_WHY_LEFTOVERS, /* files on tmpfs that no process maps */
	OOM_WHY_SHMEM,
	OOM_WHY_KERNEL_MEMORY,
	OOM_WHY_STACKS, /* stacks of many threads */
	OOM_WHY_MANY,	/* no single process used most of the memory */
	/* memory that was freed lazily, but is shared with a child */
	OOM_WHY_FORKED_LAZYFREE,
	OOM_WHY_HIDDEN, /* live memory that no working set includes */
	OOM_WHY_HUGE_PAGES,
	OOM_WHY_LOCKED,
	OOM_WHY_SWAP_FULL,
	/* the limit leaves too little room for what a runtime may use */
	OOM_WHY_RUNTIME_LIMIT,
	OOM_WHY_BURST,
	OOM_WHY_LEAK,
	OOM_WHY_RETENTION, /* freed memory that the allocator keeps */
	OOM_WHY_LIMIT_TOO_SMALL,
	OOM_WHY_PRIVATE_MEMORY, /* private memory; no more specific cause is known */
	OOM_WHY_PAGE_CACHE,
	OOM_WHY_LAZYFREE,
	OOM_WHY_HUGETLB,
	OOM_WHY_GAP,	/* memory that was allocated after the last sample */
	OOM_WHY_NOBODY, /* no process was killed, and no other verdict holds */
	OOM_WHY_UNKNOWN,
	OOM_VERDICT_COUNT_
};

struct oom_verdict_info {
	const char *name; /* name of the verdict in machine-readable output */
	const char *title;
	const char *advice;
	/*
	 * Minimum share of the limit or usage, in thousandths, for the verdict to hold.
	 * 0: no threshold.
	 */
	unsigned int min_per_mille;
	/* Kinds of end that the verdict applies to: a set of bits 1 << enum oom_end. */
	unsigned int ends;
	/* A remark, not a cause: never the first verdict if a process was killed. */
	bool is_note;
};
/*
 * The verdicts before this one name a cause. This verdict and the following
 * ones report that no cause was found.
 */
#define OOM_WHY_FILLERS OOM_WHY_GAP

extern const struct oom_verdict_info oom_verdicts[OOM_VERDICT_COUNT_];

/*
 * Return true if the rule of a verdict holds, and append the deciding figures to
 * *why, as a phrase without a full stop.
 */
bool oom_verdict_holds(enum oom_verdict verdict, const struct oom_evidence *evidence,
		       struct strbuf *why);

/* Return the first verdict that holds. The last verdict of the table always holds. */
enum oom_verdict oom_verdict_find(const struct oom_evidence *evidence);

/* Append advice for the user: whole sentences, but without the final full stop. */
void oom_verdict_add_advice(enum oom_verdict verdict, const struct oom_evidence *evidence,
			    struct strbuf *out);

#endif
