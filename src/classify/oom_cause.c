/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom_cause.h"

#include <string.h>

#include "base/units.h"

/* Shares of the limit, or of usage, from which something is told to be the cause, in per mille. */
#define SHMEM_LEAST	   300
#define KERNEL_LEAST	   250
#define MEMORY_LEAST	   500
#define LEFTOVERS_TASKS	   250 /* of usage, by tasks: less is not theirs */
#define LEFTOVERS_USAGE	   500
#define ONE_TASK_LEAST	   500 /* of what all tasks have */

const struct oom_cause_info oom_causes[OOM_CAUSE_COUNT_] = {
	[OOM_CAUSE_NODE] = { "node", "the machine had no memory left, whatever the group's limit",
			     "the group's own limit is innocent: look for what else runs there, and keep "
			     "the sum of limits, with a reserve, below the machine's memory" },
	[OOM_CAUSE_CPUSET] = { "cpuset", "the memory nodes that it may use had none left",
			       "widen cpuset.mems or the memory policy, or move something else away" },
	[OOM_CAUSE_LEFTOVERS] = { "tmpfs_leftovers",
				  "files on tmpfs that no running process has filled the limit",
				  "memory of a tmpfs stays charged when its writers end, across restarts "
				  "too: clean it at the start, and give it a size below the limit" },
	[OOM_CAUSE_SHMEM] = { "shmem", "shared memory and files on tmpfs filled the limit",
			      "look at /dev/shm, emptyDir volumes of medium Memory, memfds and shared "
			      "buffers: bound them, or count them in the limit" },
	[OOM_CAUSE_KERNEL_MEMORY] = { "kernel_memory", "the kernel's own memory for the group filled the limit",
				      "look at open pipes and sockets that nobody reads, page tables of "
				      "huge or sparse mappings, threads, and files on tmpfs: memstate oom "
				      "tells them apart where the hierarchy is of version 2" },
	[OOM_CAUSE_SWAP] = { "swap_full", "swap was full, too: what grew had been put off, not stopped",
			     "look for growth over a longer time; more swap only puts it off again" },
	[OOM_CAUSE_MANY] = { "many_processes", "many processes together filled the limit, none of them alone",
			     "the budget of each is the limit by their number: run fewer, or give more; "
			     "the one that was killed need not be the one that grew" },
	[OOM_CAUSE_MEMORY] = { "private_memory", "the private memory of one process filled the limit",
			       "a report is of one moment: whether that was a leak, a burst, or a limit "
			       "too small tells a recording: memstate -p NAME --csv --record FILE" },
	[OOM_CAUSE_ANCESTOR] = { "ancestor_limit",
				 "the limit was not its own group's, but one above: a pod's, a slice's",
				 "another group below that limit may have grown: look at all of them with "
				 "memstate oom --cgroup on the group that owns the limit" },
	[OOM_CAUSE_UNKNOWN] = { "unknown", "the report does not say what filled the limit",
				"lines are missing: the log is limited in its rate, or was cut" },
};

static uint64_t known_or_0(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

void oom_filling_find(const struct oom_kill *k, struct oom_filling *ret)
{
	const struct cgroup_stat *s = &k->stat;
	struct oom_filling f = { 0 };

	f.limit_bytes = bytes_known(k->limit_bytes) && k->limit_bytes != CGROUP_NO_LIMIT
				? k->limit_bytes
				: k->usage_bytes;
	f.anon_bytes = s->anon_bytes;
	f.shmem_bytes = s->shmem_bytes;
	f.file_bytes = bytes_sub(s->file_bytes, s->shmem_bytes);
	f.kernel_bytes = bytes_sub(s->kernel_bytes, known_or_0(s->slab_reclaimable_bytes));
	for (size_t i = 0; i < k->task_count; i++) {
		uint64_t rss = known_or_0(k->tasks[i].rss_bytes);

		f.task_rss_bytes += rss;
		f.largest_rss_bytes = rss > f.largest_rss_bytes ? rss : f.largest_rss_bytes;
	}
	*ret = f;
}

static bool is_share(uint64_t bytes, uint64_t whole, unsigned int least_per_mille)
{
	return bytes_known(bytes) && bytes_known(whole) && whole > 0 &&
	       units_per_mille(bytes, whole) >= least_per_mille;
}

static void say(struct strbuf *why, const char *what, uint64_t bytes, uint64_t whole)
{
	char part[UNITS_TEXT_SIZE], of[UNITS_TEXT_SIZE];
	unsigned int per_mille = units_per_mille(bytes, whole);

	strbuf_addf(why, "%s %s of %s (%u%%)", what, units_format_bytes(bytes, part),
		    units_format_bytes(whole, of), (per_mille + 5) / 10);
}

static bool is_leftovers(const struct oom_kill *k, const struct oom_filling *f, struct strbuf *why)
{
	if (k->task_count == 0 || !is_share(k->usage_bytes, f->limit_bytes, LEFTOVERS_USAGE) ||
	    !is_share(f->shmem_bytes, f->limit_bytes, SHMEM_LEAST) ||
	    is_share(f->task_rss_bytes, k->usage_bytes, LEFTOVERS_TASKS))
		return false;
	say(why, "shmem had", f->shmem_bytes, f->limit_bytes);
	say(why, ", all processes together", f->task_rss_bytes, k->usage_bytes);
	return true;
}

static bool is_shmem(const struct oom_filling *f, struct strbuf *why)
{
	if (!is_share(f->shmem_bytes, f->limit_bytes, SHMEM_LEAST) ||
	    f->shmem_bytes < known_or_0(f->anon_bytes) ||
	    f->shmem_bytes < known_or_0(f->kernel_bytes))
		return false;
	say(why, "shmem had", f->shmem_bytes, f->limit_bytes);
	return true;
}

static bool is_kernel_memory(const struct oom_filling *f, struct strbuf *why)
{
	if (!is_share(f->kernel_bytes, f->limit_bytes, KERNEL_LEAST) ||
	    f->kernel_bytes < known_or_0(f->anon_bytes) / 2)
		return false;
	say(why, "the kernel's memory had", f->kernel_bytes, f->limit_bytes);
	return true;
}

/* v1 has one account of memory and swap: it is full where that limit is met, and is another. */
static bool is_swap_full(const struct oom_kill *k, struct strbuf *why)
{
	if (!bytes_known(k->swap_usage_bytes) || !bytes_known(k->swap_limit_bytes) ||
	    k->swap_limit_bytes == CGROUP_NO_LIMIT || k->swap_limit_bytes == 0 ||
	    k->swap_usage_bytes < k->swap_limit_bytes - k->swap_limit_bytes / 100)
		return false;
	if (k->version == CGROUP_V1 && k->swap_limit_bytes <= k->limit_bytes)
		return false;
	say(why, "swap had", k->swap_usage_bytes, k->swap_limit_bytes);
	return true;
}

static bool is_memory(const struct oom_kill *k, const struct oom_filling *f, struct strbuf *why)
{
	uint64_t anon = bytes_known(f->anon_bytes) ? f->anon_bytes : k->victim.anon_bytes;

	if (!is_share(anon, f->limit_bytes, MEMORY_LEAST))
		return false;
	say(why, "private memory had", anon, f->limit_bytes);
	return true;
}

static bool is_many(const struct oom_kill *k, const struct oom_filling *f, struct strbuf *why)
{
	if (k->task_count < 2 || !is_share(f->task_rss_bytes, f->limit_bytes, MEMORY_LEAST) ||
	    is_share(f->largest_rss_bytes, f->task_rss_bytes, ONE_TASK_LEAST))
		return false;
	strbuf_addf(why, "of %zu processes ", k->task_count);
	say(why, "the largest had", f->largest_rss_bytes, f->task_rss_bytes);
	return true;
}

static bool is_ancestor(const struct oom_kill *k, struct strbuf *why)
{
	if (k->limit_path[0] == '\0' || k->victim_path[0] == '\0' ||
	    strcmp(k->limit_path, k->victim_path) == 0)
		return false;
	strbuf_addf(why, "the limit is of %s, and the process was in %s", k->limit_path,
		    k->victim_path);
	return true;
}

bool oom_cause_holds(enum oom_cause cause, const struct oom_kill *k, const struct oom_filling *f,
		     struct strbuf *why)
{
	switch (cause) {
	case OOM_CAUSE_NODE:
		return k->constraint == OOM_GLOBAL;
	case OOM_CAUSE_CPUSET:
		return k->constraint == OOM_NODES;
	case OOM_CAUSE_LEFTOVERS:
		return is_leftovers(k, f, why);
	case OOM_CAUSE_SHMEM:
		return is_shmem(f, why);
	case OOM_CAUSE_KERNEL_MEMORY:
		return is_kernel_memory(f, why);
	case OOM_CAUSE_SWAP:
		return is_swap_full(k, why);
	case OOM_CAUSE_MANY:
		return is_many(k, f, why);
	case OOM_CAUSE_MEMORY:
		return is_memory(k, f, why);
	case OOM_CAUSE_ANCESTOR:
		return is_ancestor(k, why);
	case OOM_CAUSE_UNKNOWN:
	case OOM_CAUSE_COUNT_:
		break;
	}
	return cause == OOM_CAUSE_UNKNOWN;
}

enum oom_cause oom_cause_find(const struct oom_kill *k, const struct oom_filling *f)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
	int cause = 0;

	while (!oom_cause_holds((enum oom_cause)cause, k, f, &unused))
		cause++;
	return (enum oom_cause)cause;
}
