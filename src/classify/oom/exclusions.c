/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/exclusions.h"

#define BIT(verdict) (UINT64_C(1) << (verdict))

/* verdicts about which memory used up the limit of a cgroup */
#define FILLED                                                                      \
	(BIT(OOM_WHY_LEFTOVERS) | BIT(OOM_WHY_SHMEM) | BIT(OOM_WHY_KERNEL_MEMORY) | \
	 BIT(OOM_WHY_STACKS) | BIT(OOM_WHY_MANY) | BIT(OOM_WHY_LOCKED) |            \
	 BIT(OOM_WHY_PRIVATE_MEMORY) | BIT(OOM_WHY_LIMIT_TOO_SMALL))

/* verdicts about why the memory that cannot be reclaimed became so large */
#define CAME                                                                           \
	(BIT(OOM_WHY_BURST) | BIT(OOM_WHY_LEAK) | BIT(OOM_WHY_RETENTION) |             \
	 BIT(OOM_WHY_SWAP_FULL) | BIT(OOM_WHY_HIDDEN) | BIT(OOM_WHY_FORKED_LAZYFREE) | \
	 BIT(OOM_WHY_HUGE_PAGES) | BIT(OOM_WHY_RUNTIME_LIMIT))

/*
 * Sets of verdicts that contradict each other. Each contradictory pair is listed only
 * once.
 */
static const struct {
	enum oom_verdict verdict;
	uint64_t excluded;
} exclusions[] = {
	/*
	 * the kill has only one of these causes: SysRq, the memory of the machine, the
	 * NUMA nodes of a cpuset, or the limit of an ancestor; with the first three, the
	 * cgroup's limit was not reached, so the verdicts in FILLED do not apply either
	 */
	{ OOM_WHY_SYSRQ, BIT(OOM_WHY_NODE) | BIT(OOM_WHY_CPUSET) | BIT(OOM_WHY_ANCESTOR) |
				 FILLED | CAME },
	{ OOM_WHY_NODE, BIT(OOM_WHY_CPUSET) | BIT(OOM_WHY_ANCESTOR) | FILLED },
	{ OOM_WHY_CPUSET, BIT(OOM_WHY_ANCESTOR) | FILLED },
	/*
	 * tmpfs files that no process maps used up the limit, so the memory of processes
	 * did not
	 */
	{ OOM_WHY_LEFTOVERS,
	  BIT(OOM_WHY_SHMEM) | BIT(OOM_WHY_MANY) | BIT(OOM_WHY_PRIVATE_MEMORY) },
	/* many processes used the memory, so no single process used most of it */
	{ OOM_WHY_MANY, BIT(OOM_WHY_PRIVATE_MEMORY) },
	/* sudden growth, steady growth and no growth are mutually exclusive */
	{ OOM_WHY_BURST, BIT(OOM_WHY_LEAK) | BIT(OOM_WHY_LIMIT_TOO_SMALL) },
	{ OOM_WHY_LEAK, BIT(OOM_WHY_LIMIT_TOO_SMALL) | BIT(OOM_WHY_RETENTION) },
	/*
	 * much of the memory was free memory that the allocator retained, so the
	 * processes did not need all of it
	 */
	{ OOM_WHY_RETENTION, BIT(OOM_WHY_LIMIT_TOO_SMALL) },
	/* the kernel did not kill the process, so no cause of a kernel kill applies */
	{ OOM_WHY_NOT_KERNEL, BIT(OOM_WHY_SYSRQ) | BIT(OOM_WHY_NODE) |
				      BIT(OOM_WHY_CPUSET) | BIT(OOM_WHY_ANCESTOR) |
				      FILLED | CAME },
	{ OOM_WHY_RSS_WATCHER, BIT(OOM_WHY_SYSRQ) | BIT(OOM_WHY_NODE) |
				       BIT(OOM_WHY_CPUSET) | BIT(OOM_WHY_ANCESTOR) |
				       FILLED | CAME },
};

bool oom_verdicts_exclude(enum oom_verdict a, enum oom_verdict b)
{
	for (size_t i = 0; i < sizeof(exclusions) / sizeof(exclusions[0]); i++)
		if ((exclusions[i].verdict == a && (exclusions[i].excluded & BIT(b))) ||
		    (exclusions[i].verdict == b && (exclusions[i].excluded & BIT(a))))
			return true;
	return false;
}

static bool excludes_any(enum oom_verdict verdict, const enum oom_verdict *others,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (oom_verdicts_exclude(verdict, others[i]))
			return true;
	return false;
}

size_t oom_verdicts_find_also(const struct oom_evidence *e, enum oom_verdict first,
			      enum oom_verdict *also)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	size_t count = 0;

	for (int v = 0; v < OOM_WHY_FILLERS; v++) {
		enum oom_verdict verdict = (enum oom_verdict)v;

		if (verdict == first || oom_verdicts_exclude(verdict, first) ||
		    excludes_any(verdict, also, count) ||
		    !oom_verdict_holds(verdict, e, &unused))
			continue;
		also[count++] = verdict;
	}
	return count;
}
