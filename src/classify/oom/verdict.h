/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict - why a process ended for lack of memory, or did not. A table of rules is
 * evaluated in order. The first rule that holds is the verdict; others that hold are
 * reported in addition. Pure.
 */
#ifndef MS_CLASSIFY_OOM_VERDICT_H
#define MS_CLASSIFY_OOM_VERDICT_H

#include "base/strbuf.h"
#include "classify/oom/evidence.h"

enum oom_verdict {
	/* Killed by a watcher, not the kernel, that counts LazyFree. */
	OOM_WHY_RSS_WATCHER,
	OOM_WHY_NOT_KERNEL,
	OOM_WHY_SYSRQ,	   /* a user requested the kill; no memory had run out */
	OOM_WHY_NODE,	   /* the machine ran out of memory */
	OOM_WHY_CPUSET,	   /* the permitted nodes ran out of memory */
	OOM_WHY_ANCESTOR,  /* an ancestor's limit was reached */
	OOM_WHY_LEFTOVERS, /* files on tmpfs that no process has open */
	OOM_WHY_SHMEM,
	OOM_WHY_KERNEL_MEMORY,
	OOM_WHY_STACKS,		 /* thread stacks */
	OOM_WHY_MANY,		 /* no single process used most of it */
	OOM_WHY_FORKED_LAZYFREE, /* freed lazily, but shared with a child */
	OOM_WHY_HIDDEN,		 /* live memory that no working set includes */
	OOM_WHY_HUGE_PAGES,
	OOM_WHY_LOCKED,
	OOM_WHY_SWAP_FULL,
	OOM_WHY_RUNTIME_LIMIT, /* a heap may grow beyond the room that the limit leaves */
	OOM_WHY_BURST,
	OOM_WHY_LEAK,
	OOM_WHY_RETENTION, /* freed, and kept by the allocator */
	OOM_WHY_LIMIT_TOO_SMALL,
	OOM_WHY_PRIVATE_MEMORY, /* nothing more specific is known */
	OOM_WHY_PAGE_CACHE,
	OOM_WHY_LAZYFREE,
	OOM_WHY_HUGETLB,
	OOM_WHY_GAP,	/* memory grew after the last sample */
	OOM_WHY_NOBODY, /* no process was killed, and there is nothing to report */
	OOM_WHY_UNKNOWN,
	OOM_VERDICT_COUNT_
};

struct oom_verdict_info {
	const char *name; /* for machine-readable output */
	const char *title;
	const char *advice;
	/*
	 * Share, in per mille of the whole, from which the verdict
	 * holds. 0: no threshold.
	 */
	unsigned int least_per_mille;
	unsigned int ends; /* 1 << enum oom_end for each end that it applies to */
	/* Not a cause of a kill: never the verdict if a process was killed. */
	bool is_note;
};
/*
 * Verdicts before this one name a cause. This one and the following ones
 * report that none was found.
 */
#define OOM_WHY_FILLERS OOM_WHY_GAP

extern const struct oom_verdict_info oom_verdicts[OOM_VERDICT_COUNT_];

/*
 * Return true if a rule holds. Then the deciding figures are appended to *why as a
 * phrase without a full stop.
 */
bool oom_verdict_holds(enum oom_verdict verdict, const struct oom_evidence *evidence,
		       struct strbuf *why);

/* Return the first verdict that holds. The last one always does. */
enum oom_verdict oom_verdict_find(const struct oom_evidence *evidence);

/* Append what to do about it: whole sentences, but without the final full stop. */
void oom_verdict_add_advice(enum oom_verdict verdict, const struct oom_evidence *evidence,
			    struct strbuf *out);

#endif
