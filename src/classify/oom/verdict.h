/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - determine why a process ended when memory was scarce. A table of rules is
 * evaluated in order: the first rule that holds provides the verdict, and other rules
 * that hold provide additional findings. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_VERDICT_H
#define MS_CLASSIFY_OOM_VERDICT_H

#include "base/strbuf.h"
#include "classify/oom/evidence.h"

enum oom_verdict {
	/*
	 * a user-space watcher, which counts LazyFree as used memory, killed the process
	 */
	OOM_WHY_RSS_WATCHER,
	OOM_WHY_NOT_KERNEL,
	OOM_WHY_SYSRQ, /* a user triggered the kill, and memory had not run out */
	OOM_WHY_NODE,  /* the machine ran out of memory */
	/* the NUMA nodes that the process was allowed to use ran out of memory */
	OOM_WHY_CPUSET,
	OOM_WHY_ANCESTOR, /* the limit of an ancestor cgroup was reached */
	/* much of the memory was in tmpfs files that no process maps */
	OOM_WHY_LEFTOVERS,
	OOM_WHY_SHMEM,
	OOM_WHY_KERNEL_MEMORY,
	OOM_WHY_STACKS, /* much of the memory was in the stacks of many threads */
	OOM_WHY_MANY,	/* the memory was spread over many processes */
	/*
	 * much of the memory was freed with MADV_FREE but is shared with a child process
	 */
	OOM_WHY_FORKED_LAZYFREE,
	/* much of the memory was live but not included in any working set */
	OOM_WHY_HIDDEN,
	OOM_WHY_HUGE_PAGES,
	OOM_WHY_LOCKED,
	OOM_WHY_SWAP_FULL,
	/* a language runtime may use more memory than the limit leaves room for */
	OOM_WHY_RUNTIME_LIMIT,
	OOM_WHY_BURST,
	OOM_WHY_LEAK,
	/* much of the memory was freed by the program but is retained by the allocator */
	OOM_WHY_RETENTION,
	OOM_WHY_LIMIT_TOO_SMALL,
	/* much of the memory was private, and no more specific cause is known */
	OOM_WHY_PRIVATE_MEMORY,
	OOM_WHY_PAGE_CACHE,
	OOM_WHY_LAZYFREE,
	OOM_WHY_HUGETLB,
	OOM_WHY_GAP, /* much of the memory was allocated after the last sample */
	/* no process was killed, and no other verdict holds */
	OOM_WHY_NOBODY,
	OOM_WHY_UNKNOWN,
	OOM_VERDICT_COUNT_
};

struct oom_verdict_info {
	const char *name; /* name of the verdict in JSON and CSV output */
	const char *title;
	const char *advice;
	/*
	 * Smallest share of the limit or usage, in thousandths, for which the verdict
	 * holds; 0: the verdict has no threshold.
	 */
	unsigned int min_per_mille;
	/*
	 * ways of ending to which the verdict applies, as a bit set of 1 << enum oom_end
	 */
	unsigned int ends;
	/*
	 * True if the verdict is a remark rather than a cause. Such a verdict is reported
	 * first only if all processes are still running.
	 */
	bool is_note;
};
/*
 * The first verdict that does not name a cause. None of the following verdicts names
 * a cause either.
 */
#define OOM_WHY_FILLERS OOM_WHY_GAP

extern const struct oom_verdict_info oom_verdicts[OOM_VERDICT_COUNT_];

/*
 * Return true if the verdict holds, and append the decisive figures to *why as a phrase
 * without a full stop.
 */
bool oom_verdict_holds(enum oom_verdict verdict, const struct oom_evidence *evidence,
		       struct strbuf *why);

/* Return the first verdict that holds. The last verdict in the table always holds. */
enum oom_verdict oom_verdict_find(const struct oom_evidence *evidence);

/* Append advice for the user as whole sentences, without the final full stop. */
void oom_verdict_add_advice(enum oom_verdict verdict, const struct oom_evidence *evidence,
			    struct strbuf *out);

#endif
