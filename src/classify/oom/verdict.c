/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/kernel_part.h"
#include "classify/oom/verdict.h"

#include "classify/oom/rules.h"

#define KILLED (1U << OOM_END_KILLED)
#define GONE (1U << OOM_END_GONE)
#define NONE (1U << OOM_END_NONE)
#define ANY (KILLED | GONE | NONE)

const struct oom_verdict_info oom_verdicts[OOM_VERDICT_COUNT_] = {
	[OOM_WHY_RSS_WATCHER] = {
		.name = "rss_watcher",
		.title = "the kernel killed no process; if a program that watches Rss "
			 "did, it counted memory that the kernel could have reclaimed "
			 "at any time",
		.advice = "configure the program that kills processes by their Rss (a "
			  "worker manager, a watchdog, a job's RSS limit) to use Rss "
			  "minus LazyFree; or return memory immediately: "
			  "MADV_DONTNEED, jemalloc's muzzy_decay_ms:0, "
			  "GODEBUG=madvdontneed=1",
		.min_per_mille = 100,
		.ends = GONE,
	},
	[OOM_WHY_NOT_KERNEL] = {
		.name = "not_the_kernel",
		.title = "the kernel did not kill it: it exited, or another program "
			 "ended it",
		.advice = "after status 137, find out which program sent SIGKILL: an "
			  "eviction by the kubelet, a failed liveness probe, "
			  "systemd-oomd, earlyoom, a watchdog, docker stop",
		.ends = GONE,
	},
	[OOM_WHY_SYSRQ] = {
		.name = "sysrq",
		.title = "a person or a program requested the kill (SysRq f); memory "
			 "may not have run out",
		.advice = "find out which program wrote to /proc/sysrq-trigger, or who "
			  "pressed the keys; kernel.sysrq restricts it",
		.ends = KILLED,
	},
	[OOM_WHY_NODE] = {
		.name = "node",
		.title = "the machine ran out of memory, regardless of the limit of the "
			 "cgroup",
		.advice = "check what else runs on the machine, and keep the sum of all "
			  "limits, plus a reserve, below the machine's memory",
		.ends = KILLED,
	},
	[OOM_WHY_CPUSET] = {
		.name = "cpuset",
		.title = "the memory nodes that it may use ran out of memory",
		.advice = "allow more nodes in cpuset.mems or the memory policy, or move "
			  "other work to other nodes",
		.ends = KILLED,
	},
	[OOM_WHY_ANCESTOR] = {
		.name = "ancestor_limit",
		.title = "the process was in a cgroup below the one with the limit, such "
			 "as a container of a pod",
		.advice = "another cgroup below that limit may have grown: run memstate "
			  "oom --cgroup on the cgroup that has the limit",
		.ends = KILLED,
	},
	[OOM_WHY_LEFTOVERS] = {
		.name = "tmpfs_leftovers",
		.title = "files on tmpfs, which no running process maps, used up the "
			 "limit",
		.advice = "files on tmpfs stay charged after their writers exit, even "
			  "across restarts: delete them at start-up, and mount the tmpfs "
			  "with a size below the limit",
		.min_per_mille = 300,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_SHMEM] = {
		.name = "shmem",
		.title = "shared memory and files on tmpfs used up the limit",
		.advice = "check /dev/shm, emptyDir volumes of medium Memory, memfds "
			  "and shared buffers: limit their size, or raise the limit by "
			  "it",
		.min_per_mille = 300,
		.ends = KILLED,
	},
	[OOM_WHY_KERNEL_MEMORY] = {
		.name = "kernel_memory",
		.title = "kernel memory charged to the cgroup used up the limit",
		.advice = "check for unread pipes and sockets, page tables of "
			  "huge or sparse mappings, threads, and many files on tmpfs: "
			  "with cgroup version 2, memstate oom lists them separately",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_STACKS] = {
		.name = "thread_stacks",
		.title = "the stacks of many threads used up the limit",
		.advice = "use fewer threads, or smaller stacks (ulimit -s, "
			  "pthread_attr_setstacksize, -Xss): pages that a stack has "
			  "touched stay resident until the thread ends",
		.min_per_mille = 200,
		.ends = KILLED,
	},
	[OOM_WHY_MANY] = {
		.name = "many_processes",
		.title = "many processes together used up the limit, none of them on "
			 "its own",
		.advice = "the budget per process is the limit divided by their "
			  "number: run fewer processes, or raise the limit; the "
			  "victim is not necessarily the process that grew",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_FORKED_LAZYFREE] = {
		.name = "forked_lazyfree",
		.title = "memory was freed lazily (MADV_FREE) while a forked process "
			 "shared it, so the kernel could not reclaim it",
		.advice = "free before the fork, return the memory immediately "
			  "(MADV_DONTNEED), keep it from the child (MADV_DONTFORK), or "
			  "have the child call exec or exit soon",
		.min_per_mille = 100,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_HIDDEN] = {
		.name = "hidden",
		.title = "the working set omits live memory that was freed lazily "
			 "(MADV_FREE) and written again",
		.advice = "dashboards and kubectl top do not show this memory: alert "
			  "on need, as memstate oom shows it, or on usage minus page "
			  "cache; or make the allocator return memory immediately",
		.min_per_mille = 100,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_HUGE_PAGES] = {
		.name = "huge_pages",
		.title = "huge pages kept more private memory resident than was in use",
		.advice = "allow huge pages only on request "
			  "(transparent_hugepage/enabled: madvise), or not at all "
			  "(jemalloc's thp:never, prctl PR_SET_THP_DISABLE): writing "
			  "one byte makes 2 MiB resident",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_LOCKED] = {
		.name = "locked",
		.title = "locked memory used up the limit: none of it can be reclaimed",
		.advice = "look for mlock() and mlockall(), and for buffers registered "
			  "with devices: lock only what must not be paged out, and "
			  "unlock what was freed",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_SWAP_FULL] = {
		.name = "swap_full",
		.title = "swap was full, too, so it only delayed the kill",
		.advice = "look for growth over a longer time; more swap only delays "
			  "the next kill",
		.min_per_mille = 990,
		.ends = KILLED,
	},
	[OOM_WHY_RUNTIME_LIMIT] = {
		.name = "runtime_limit",
		.title = "the program's own memory limit does not fit into the limit of "
			 "the cgroup",
		.min_per_mille = 300,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_BURST] = {
		.name = "burst",
		.title = "need rose suddenly, and had not been growing before",
		.advice = "set the limit to the peak plus 20 %, or limit the size of "
			  "requests and the number of concurrent requests",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_LEAK] = {
		.name = "leak",
		.title = "need grew steadily and never fell",
		.advice = "look for memory that is never freed: memstate leaks, "
			  "memstate count --stacks --live, or the language's own heap "
			  "profiler",
		.min_per_mille = 500,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_RETENTION] = {
		.name = "retention",
		.title = "most of the private memory was free but kept by the "
			 "allocator: in its pools, or on pages with few remaining "
			 "blocks",
		.advice = "try malloc_trim(0), MALLOC_ARENA_MAX=2, or jemalloc's "
			  "background_thread and decay times; memstate heap shows "
			  "which applies, and memstate --preload compares allocators",
		.min_per_mille = 600,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_LIMIT_TOO_SMALL] = {
		.name = "limit_too_small",
		.title = "the usual need is close to the limit, without steady growth",
		.advice = "set the limit to the highest need plus 20 %; a JVM needs more "
			  "than its heap: metaspace, code, threads and buffers must fit, "
			  "too",
		.min_per_mille = 850,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_PRIVATE_MEMORY] = {
		.name = "private_memory",
		.title = "the private memory of one process used up the limit",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_PAGE_CACHE] = {
		.name = "page_cache",
		.title = "much of the memory was page cache, which the kernel drops "
			 "before it kills",
		.advice = "page cache is harmless; if much of it waits for writeback, "
			  "the disk is slow, and the memory cannot be reclaimed until it "
			  "has been written",
		.min_per_mille = 300,
		.ends = ANY,
		.is_note = true,
	},
	[OOM_WHY_LAZYFREE] = {
		.name = "lazyfree",
		.title = "much of the memory was LazyFree, which the kernel reclaims "
			 "before it kills",
		.advice = "Rss includes memory that is not needed: use Rss minus "
			  "LazyFree; at the limit, the first write to a new page is "
			  "slower, because a LazyFree page is reclaimed first",
		.min_per_mille = 200,
		.ends = GONE | NONE,
		.is_note = true,
	},
	[OOM_WHY_HUGETLB] = {
		.name = "hugetlb",
		.title = "hugetlbfs pages were in use, which are not charged to this "
			 "limit",
		.advice = "hugetlbfs pages have their own limit (hugetlb.*); the kernel "
			  "ends a program that exceeds it with SIGBUS",
		.ends = ANY,
		.is_note = true,
	},
	[OOM_WHY_GAP] = {
		.name = "gap",
		.title = "the memory that used up the limit was allocated after the "
			 "last sample",
		.advice = "record at a shorter interval: memstate oom watch shortens "
			  "it near the limit; the kernel's log (--kmsg) also shows the "
			  "composition",
		.min_per_mille = 100,
		.ends = KILLED,
	},
	[OOM_WHY_NOBODY] = {
		.name = "nobody",
		.title = "no process was killed, and nothing suggests that one is "
			 "about to be",
		.advice = "memstate oom predict shows whether need grows, and when it "
			  "will reach the limit",
		.ends = NONE,
	},
	[OOM_WHY_UNKNOWN] = {
		.name = "unknown",
		.title = "the evidence does not show the cause",
		.advice = "a log may lack lines, because the kernel limits their rate or "
			  "because it was cut; a recording of the cgroup has more "
			  "evidence: memstate oom watch",
		.ends = KILLED | GONE,
	},
};

static bool has_evidence(enum oom_verdict verdict, const struct oom_evidence *e)
{
	return oom_verdicts[verdict].ends & (1U << e->end);
}

bool oom_verdict_holds(enum oom_verdict verdict, const struct oom_evidence *e,
		       struct strbuf *why)
{
	return has_evidence(verdict, e) &&
	       oom_rules[verdict](e, oom_verdicts[verdict].min_per_mille, why);
}

enum oom_verdict oom_verdict_find(const struct oom_evidence *e)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;

	for (int v = 0; v < OOM_WHY_UNKNOWN; v++)
		if (!(oom_verdicts[v].is_note && e->end != OOM_END_NONE) &&
		    oom_verdict_holds((enum oom_verdict)v, e, &unused))
			return (enum oom_verdict)v;
	return OOM_WHY_UNKNOWN;
}

/*
 * Advice if there is a kernel report but no recording. The report shows the memory only
 * at the time of the kill.
 */
static const char no_recording[] =
	"a recording shows whether the cause was a leak, a burst, or a limit that is "
	"too small: memstate oom watch, and then memstate oom explain --record FILE";
static const char no_group[] =
	"the kernel's log (--kmsg) shows whether it was killed, and so does a "
	"recording with its cgroup: memstate oom watch";
static const char too_few_samples[] =
	"too few samples to distinguish a leak from a burst: record for longer, or "
	"more often";

/* Return true if a program's configured shared buffers may exceed the limit. */
static bool is_shared_runtime(const struct oom_evidence *e)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;

	return oom_verdict_holds(OOM_WHY_RUNTIME_LIMIT, e, &unused) &&
	       runtime_option_is_shared(e->runtime_limit.option);
}

void oom_verdict_add_advice(enum oom_verdict verdict, const struct oom_evidence *e,
			    struct strbuf *out)
{
	const struct oom_kernel_part *part =
		verdict == OOM_WHY_KERNEL_MEMORY ? oom_kernel_part_find(e) : NULL;
	const char *advice = oom_verdicts[verdict].advice;

	if (verdict == OOM_WHY_PRIVATE_MEMORY)
		advice = e->has_sample ? too_few_samples : no_recording;
	if (verdict == OOM_WHY_UNKNOWN && e->end == OOM_END_GONE)
		advice = no_group;
	if (verdict == OOM_WHY_RUNTIME_LIMIT ||
	    (verdict == OOM_WHY_SHMEM && is_shared_runtime(e)))
		advice = runtime_option_advice(e->runtime_limit.option);
	strbuf_add_text(out, part ? part->advice : advice);
	if (verdict == OOM_WHY_LEAK && !bytes_known(e->live_bytes))
		strbuf_add_text(out,
				"; heaps were not read: memstate heap shows whether the "
				"memory is allocated, or free but kept by the allocator");
}
