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
		.title = "the kernel killed nobody; if something that goes by Rss did, it "
			 "counted memory that the kernel could have taken at any time",
		.advice = "whatever ends processes by their Rss (a manager of workers, "
			  "a watchdog, a limit on RSS in a job's settings) should go by "
			  "Rss less LazyFree; or have memory given back at once: "
			  "MADV_DONTNEED, jemalloc's muzzy_decay_ms:0, "
			  "GODEBUG=madvdontneed=1",
		.min_per_mille = 100,
		.ends = GONE,
	},
	[OOM_WHY_NOT_KERNEL] = {
		.name = "not_the_kernel",
		.title = "the kernel killed nobody for want of memory: it ended by "
			 "itself, or something else ended it",
		.advice = "after status 137 look for who sends SIGKILL: an eviction by "
			  "the kubelet, a failed liveness probe, systemd-oomd, "
			  "earlyoom, a watchdog, docker stop",
		.ends = GONE,
	},
	[OOM_WHY_SYSRQ] = {
		.name = "sysrq",
		.title = "a person or a program asked the kernel to kill (SysRq f); memory need "
			 "not have run out",
		.advice = "look for who writes to /proc/sysrq-trigger or has pressed the keys; "
			  "kernel.sysrq limits who may",
		.ends = KILLED,
	},
	[OOM_WHY_NODE] = {
		.name = "node",
		.title = "the machine had no memory left, whatever the group's limit",
		.advice = "the group's own limit is innocent: look for what else runs "
			  "there, and keep the sum of limits, with a reserve, below the "
			  "machine's memory",
		.ends = KILLED,
	},
	[OOM_WHY_CPUSET] = {
		.name = "cpuset",
		.title = "the memory nodes that it may use had none left",
		.advice = "widen cpuset.mems or the memory policy, or move something "
			  "else away",
		.ends = KILLED,
	},
	[OOM_WHY_ANCESTOR] = {
		.name = "ancestor_limit",
		.title = "the limit was not its own group's, but one above: a pod's, a "
			 "slice's",
		.advice = "another group below that limit may have grown: look at all "
			  "of them with memstate oom --cgroup on the group that owns "
			  "the limit",
		.ends = KILLED,
	},
	[OOM_WHY_LEFTOVERS] = {
		.name = "tmpfs_leftovers",
		.title = "files on tmpfs that no running process has filled the limit",
		.advice = "memory of a tmpfs stays charged when its writers end, across "
			  "restarts too: clean it at the start, and give it a size "
			  "below the limit",
		.min_per_mille = 300,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_SHMEM] = {
		.name = "shmem",
		.title = "shared memory and files on tmpfs filled the limit",
		.advice = "look at /dev/shm, emptyDir volumes of medium Memory, memfds "
			  "and shared buffers: bound them, or count them in the limit",
		.min_per_mille = 300,
		.ends = KILLED,
	},
	[OOM_WHY_KERNEL_MEMORY] = {
		.name = "kernel_memory",
		.title = "the kernel's own memory for the group filled the limit",
		.advice = "look at open pipes and sockets that nobody reads, page "
			  "tables of huge or sparse mappings, threads, and many files "
			  "on tmpfs: memstate oom tells them apart in version 2",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_STACKS] = {
		.name = "thread_stacks",
		.title = "the stacks of many threads filled the limit",
		.advice = "fewer threads, or smaller stacks (ulimit -s, "
			  "pthread_attr_setstacksize, -Xss): what a stack has touched "
			  "once stays resident for as long as the thread lives",
		.min_per_mille = 200,
		.ends = KILLED,
	},
	[OOM_WHY_MANY] = {
		.name = "many_processes",
		.title = "many processes together filled the limit, none of them alone",
		.advice = "the budget of each is the limit by their number: run fewer, "
			  "or give more; the one that was killed need not be the one "
			  "that grew",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_FORKED_LAZYFREE] = {
		.name = "forked_lazyfree",
		.title = "memory was freed lazily (MADV_FREE) while a forked process "
			 "had it too: the kernel cannot take that back",
		.advice = "free before the fork, give the memory back at once "
			  "(MADV_DONTNEED), keep it from the child (MADV_DONTFORK), or "
			  "have the child call exec or end soon",
		.min_per_mille = 100,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_HIDDEN] = {
		.name = "hidden",
		.title = "live memory that no working set shows: it was freed lazily "
			 "(MADV_FREE) and written again",
		.advice = "dashboards and kubectl top showed less than was needed by "
			  "that much: alert on usage less page cache (memstate oom has "
			  "it as need), or have the allocator give memory back at once",
		.min_per_mille = 100,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_HUGE_PAGES] = {
		.name = "huge_pages",
		.title = "huge pages made private memory larger than what is used of it",
		.advice = "let huge pages only where they are asked for "
			  "(transparent_hugepage/enabled: madvise), or none (jemalloc's "
			  "thp:never, prctl PR_SET_THP_DISABLE): one byte that is "
			  "written brings 2 MiB",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_LOCKED] = {
		.name = "locked",
		.title = "memory that was locked filled the limit: none of it can be "
			 "taken back",
		.advice = "look for mlock() and mlockall(), and for buffers that are "
			  "registered with devices: lock only what must not be paged "
			  "out, and unlock what was freed",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_SWAP_FULL] = {
		.name = "swap_full",
		.title = "swap was full, too: what grew had been put off, not stopped",
		.advice = "look for growth over a longer time; more swap only puts it "
			  "off again",
		.min_per_mille = 990,
		.ends = KILLED,
	},
	[OOM_WHY_RUNTIME_LIMIT] = {
		.name = "runtime_limit",
		.title = "the program's own limit on its memory does not fit into the group's",
		.min_per_mille = 300,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_BURST] = {
		.name = "burst",
		.title = "need rose at once, and had not been growing before",
		.advice = "give the limit the peak and a fifth more, or bound how much "
			  "is worked on at a time: the size of a request, how many run "
			  "together",
		.min_per_mille = 250,
		.ends = KILLED,
	},
	[OOM_WHY_LEAK] = {
		.name = "leak",
		.title = "need grew on, and did not come back",
		.advice = "look at what is never freed: memstate leaks, memstate count "
			  "--stacks --live, or the language's own heap profiler",
		.min_per_mille = 500,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_RETENTION] = {
		.name = "retention",
		.title = "most of the private memory was free, and kept by the "
			 "allocator: its pools, or pages with few blocks left in them",
		.advice = "malloc_trim(0), MALLOC_ARENA_MAX=2, jemalloc's "
			  "background_thread and decay times; memstate heap says which, "
			  "and memstate --preload compares allocators",
		.min_per_mille = 600,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_LIMIT_TOO_SMALL] = {
		.name = "limit_too_small",
		.title = "nothing grew: what it needs all the time is nearly the limit",
		.advice = "give the limit the highest need and a fifth more; in a JVM "
			  "the heap is only a part: metaspace, code, threads and "
			  "buffers must fit too",
		.min_per_mille = 850,
		.ends = KILLED | NONE,
	},
	[OOM_WHY_PRIVATE_MEMORY] = {
		.name = "private_memory",
		.title = "the private memory of one process filled the limit",
		.min_per_mille = 500,
		.ends = KILLED,
	},
	[OOM_WHY_PAGE_CACHE] = {
		.name = "page_cache",
		.title = "page cache was a large part: the kernel drops it before it "
			 "kills",
		.advice = "no harm by itself; where much of it waits to be written, the "
			  "disk is slow, and memory short for as long",
		.min_per_mille = 300,
		.ends = ANY,
		.is_note = true,
	},
	[OOM_WHY_LAZYFREE] = {
		.name = "lazyfree",
		.title = "LazyFree memory was a large part: the kernel takes it before "
			 "it kills",
		.advice = "Rss shows what is not needed: go by Rss less LazyFree; at "
			  "the limit the first write to a new page is slower, as one of "
			  "these goes first",
		.min_per_mille = 200,
		.ends = GONE | NONE,
		.is_note = true,
	},
	[OOM_WHY_HUGETLB] = {
		.name = "hugetlb",
		.title = "pages of hugetlbfs were in use, which are not charged to this "
			 "limit",
		.advice = "they have a limit of their own (hugetlb.*), and end a "
			  "program by SIGBUS",
		.ends = ANY,
		.is_note = true,
	},
	[OOM_WHY_GAP] = {
		.name = "gap",
		.title = "what filled the limit came after the last sample",
		.advice = "record at a shorter interval: memstate oom watch shortens it "
			  "as the limit comes near; with the kernel's log (--kmsg) what "
			  "it was made of is known, too",
		.min_per_mille = 100,
		.ends = KILLED,
	},
	[OOM_WHY_NOBODY] = {
		.name = "nobody",
		.title = "nobody was killed, and nothing here is about to bring that",
		.advice = "memstate oom predict says whether it grows, and when it "
			  "would meet the limit",
		.ends = NONE,
	},
	[OOM_WHY_UNKNOWN] = {
		.name = "unknown",
		.title = "what is known does not say why",
		.advice = "in a log lines may be missing, as it is limited in its rate, "
			  "or was cut; a recording of the group says more: memstate oom "
			  "watch",
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

/* Advice for a kernel report without a recording, which describes only one moment. */
static const char no_recording[] =
	"whether that was a leak, a burst, or a limit too small, a recording tells: memstate oom "
	"watch, and then memstate oom explain --record FILE";
static const char no_group[] =
	"the kernel's log (--kmsg) says whether it was killed; and so does a recording with its "
	"group: memstate oom watch";
static const char too_few_samples[] =
	"there are too few samples to tell a leak from a burst: record longer, or more often";

/* Return true if the shared buffers of a program may exceed the limit. */
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
		strbuf_add_text(
			out,
			"; heaps were not read: whether it is live, or free and kept by the "
			"allocator, memstate heap says");
}
