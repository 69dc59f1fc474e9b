/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_verdict - why a process ended for want of memory, or did not: a table of rules over
 * the evidence, in order. The first that holds is the verdict, the others are beside it. Pure.
 */
#ifndef MS_CLASSIFY_OOM_VERDICT_H
#define MS_CLASSIFY_OOM_VERDICT_H

#include "base/strbuf.h"
#include "classify/oom_evidence.h"

enum oom_verdict {
	OOM_WHY_RSS_WATCHER, /* not the kernel, and LazyFree counted against it */
	OOM_WHY_NOT_KERNEL,
	OOM_WHY_SYSRQ,	   /* a person asked for it: nothing had run out */
	OOM_WHY_NODE,	   /* the machine had no more */
	OOM_WHY_CPUSET,	   /* the nodes that it may have memory from had no more */
	OOM_WHY_ANCESTOR,  /* a limit above the victim's own group */
	OOM_WHY_LEFTOVERS, /* files on tmpfs that no process has */
	OOM_WHY_SHMEM,
	OOM_WHY_KERNEL_MEMORY,
	OOM_WHY_STACKS,		 /* of threads */
	OOM_WHY_MANY,		 /* no process had most of it */
	OOM_WHY_FORKED_LAZYFREE, /* freed lazily, and shared with a child */
	OOM_WHY_HIDDEN,		 /* live memory that no working set shows */
	OOM_WHY_HUGE_PAGES,
	OOM_WHY_LOCKED,
	OOM_WHY_SWAP_FULL,
	OOM_WHY_RUNTIME_LIMIT, /* a heap may grow to more than the limit has room for */
	OOM_WHY_BURST,
	OOM_WHY_LEAK,
	OOM_WHY_RETENTION, /* freed, and kept by the allocator */
	OOM_WHY_LIMIT_TOO_SMALL,
	OOM_WHY_PRIVATE_MEMORY, /* and more is not known */
	OOM_WHY_PAGE_CACHE,
	OOM_WHY_LAZYFREE,
	OOM_WHY_HUGETLB,
	OOM_WHY_GAP,	/* it came after the last sample */
	OOM_WHY_NOBODY, /* was killed, and there is nothing to be said */
	OOM_WHY_UNKNOWN,
	OOM_VERDICT_COUNT_
};

struct oom_verdict_info {
	const char *name; /* for machines */
	const char *title;
	const char *advice;
	/* The share from which it holds, in per mille of what its figures are told of. 0: none. */
	unsigned int least_per_mille;
	unsigned int ends; /* 1 << enum oom_end: of which it can be told */
	bool is_note;	   /* kills nobody: never the verdict where somebody was killed */
};
/* Those before it are something that holds; it and what follows say that nothing does. */
#define OOM_WHY_FILLERS OOM_WHY_GAP

extern const struct oom_verdict_info oom_verdicts[OOM_VERDICT_COUNT_];

/*
 * Whether a rule holds; the figures that decide it are appended to *why then, in words that
 * end no sentence.
 */
bool oom_verdict_holds(enum oom_verdict verdict, const struct oom_evidence *evidence,
		       struct strbuf *why);

/* The first that holds: the last one always does. */
enum oom_verdict oom_verdict_find(const struct oom_evidence *evidence);

/* What to do about it, whole sentences but for the last stop. */
void oom_verdict_add_advice(enum oom_verdict verdict, const struct oom_evidence *evidence,
			    struct strbuf *out);

#endif
