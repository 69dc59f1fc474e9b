/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/rules.h"

#include <string.h>

#include "base/units.h"
#include "classify/oom/kernel_part.h"
#include "classify/oom/node.h"

/*
 * Thresholds in thousandths, derived from kills with known
 * causes (tests/live/oom_verdicts.py).
 */

/*
 * The verdict is "tmpfs_leftovers" only if processes use less than this many thousandths
 * of the cgroup's usage.
 */
#define LEFTOVERS_TASKS 250
#define LEFTOVERS_USAGE 500
#define STACK_THREADS 50 /* minimum number of threads for the verdict "thread_stacks" */
/* Private memory is mostly free if its live part is below this, in thousandths. */
#define RETENTION_LIVE 600
/* Minimum free memory for the verdict "retention", in thousandths of the limit. */
#define RETENTION_FREE 250
/*
 * Minimum memory of all processes together for the verdict "many processes", in
 * thousandths of the limit.
 */
#define MANY_MIN 500
#define DIRTY_MIN 200
#define BURST_NS (5 * NS_PER_S)

static bool is_share(uint64_t bytes, uint64_t whole, unsigned int min_per_mille)
{
	return bytes_known(bytes) && bytes_known(whole) && whole > 0 &&
	       units_per_mille(bytes, whole) >= min_per_mille;
}

/* Append text such as "shmem was 30.0M of 48.0M (63%)". */
static void add_share_text(struct strbuf *why, const char *what, uint64_t bytes,
			   uint64_t whole)
{
	char part[UNITS_TEXT_SIZE], of[UNITS_TEXT_SIZE];
	unsigned int per_mille = units_per_mille(bytes, whole);

	strbuf_addf(why, "%s %s of %s (%u%%)", what, units_format_bytes(bytes, part),
		    units_format_bytes(whole, of), (per_mille + 5) / 10);
}

/*
 * If `bytes` is at least `min` thousandths of the limit or, without a limit, of the
 * memory usage, append the share to *why and return true.
 */
static bool has_share(const struct oom_evidence *e, const char *what, uint64_t bytes,
		      unsigned int min, struct strbuf *why)
{
	uint64_t whole = oom_evidence_base_bytes(e);

	if (!is_share(bytes, whole, min))
		return false;
	add_share_text(why, what, bytes, whole);
	return true;
}

static void add_duration_text(struct strbuf *why, const char *before, uint64_t ns)
{
	char text[UNITS_TEXT_SIZE];

	strbuf_addf(why, "%s%s", before, units_format_duration(ns, text));
}

static bool is_rss_watcher(const struct oom_evidence *e, unsigned int min,
			   struct strbuf *why)
{
	if (!e->is_kernel_excluded ||
	    !is_share(e->victim.lazyfree_bytes, e->victim.rss_bytes, min))
		return false;
	add_share_text(why, "LazyFree was", e->victim.lazyfree_bytes,
		       e->victim.rss_bytes);
	strbuf_add_text(why, " of its Rss");
	return true;
}

static bool is_not_kernel(const struct oom_evidence *e, unsigned int min,
			  struct strbuf *why)
{
	(void)min;
	if (!e->is_kernel_excluded)
		return false;
	strbuf_add_text(why, "the kill count did not rise");
	if (bytes_known(oom_evidence_base_bytes(e)) && bytes_known(e->last.need_bytes))
		add_share_text(why, ", need was", e->last.need_bytes,
			       oom_evidence_base_bytes(e));
	return true;
}

static bool is_sysrq(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	(void)min;
	(void)why;
	return e->kill && e->kill->is_sysrq;
}

static bool is_node(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	(void)min;
	if (e->constraint != OOM_GLOBAL)
		return false;
	if (e->kill)
		oom_node_add_reason(e->kill, why);
	return true;
}

static bool is_cpuset(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	(void)min;
	(void)why;
	return e->constraint == OOM_NODES;
}

static bool is_ancestor(const struct oom_evidence *e, unsigned int min,
			struct strbuf *why)
{
	bool differ = strcmp(e->limit_path, e->victim_path) != 0;

	(void)min;
	if (e->limit_path[0] == '\0' || e->victim_path[0] == '\0') {
		if (!e->is_limit_above)
			return false;
		strbuf_add_text(why, "the limit of its own cgroup was not reached");
		return true;
	}
	if (!differ)
		return false;
	strbuf_addf(why, "the limit belongs to %s, and the process was in %s",
		    e->limit_path, e->victim_path);
	return true;
}

/*
 * Return true if much of the memory is in tmpfs files, and the processes use little
 * memory. Files on a tmpfs remain charged to the cgroup after its processes have ended.
 */
static bool is_leftovers(const struct oom_evidence *e, unsigned int min,
			 struct strbuf *why)
{
	uint64_t whole = oom_evidence_base_bytes(e);

	if (!bytes_known(e->process_bytes) ||
	    !is_share(e->at.usage_bytes, whole, LEFTOVERS_USAGE) ||
	    is_share(e->process_bytes, e->at.usage_bytes, LEFTOVERS_TASKS) ||
	    !has_share(e, "shmem was", e->at.shmem_bytes, min, why))
		return false;
	add_share_text(why, ", and the memory of all processes was", e->process_bytes,
		       e->at.usage_bytes);
	return true;
}

static bool is_shmem(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	if (bytes_or_0(e->at.shmem_bytes) < bytes_or_0(e->at.live_anon_bytes) ||
	    bytes_or_0(e->at.shmem_bytes) < bytes_or_0(e->at.kernel_bytes))
		return false;
	return has_share(e, "shmem was", e->at.shmem_bytes, min, why);
}

static bool is_kernel_memory(const struct oom_evidence *e, unsigned int min,
			     struct strbuf *why)
{
	uint64_t bytes = bytes_add(e->at.kernel_bytes, bytes_or_0(e->at.sock_bytes));
	const struct oom_kernel_part *part;
	char text[UNITS_TEXT_SIZE];

	if (bytes_or_0(bytes) < bytes_or_0(e->at.live_anon_bytes) / 2 ||
	    !has_share(e, "kernel memory was", bytes, min, why))
		return false;
	part = oom_kernel_part_find(e);
	if (part)
		strbuf_addf(why, ", most of it %s (%s)", part->name,
			    units_format_bytes(oom_kernel_part_bytes(e, part), text));
	else
		strbuf_add_text(why, "; cgroup version 1 does not itemize it");
	return true;
}

static bool is_stacks(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	uint64_t bytes = bytes_add(e->stack_bytes, bytes_or_0(e->at.kernel_stack_bytes));

	if (e->thread_count == COUNT_UNKNOWN || e->thread_count < STACK_THREADS ||
	    !is_share(bytes, oom_evidence_base_bytes(e), min))
		return false;
	strbuf_addf(why, "the stacks of %llu threads were",
		    (unsigned long long)e->thread_count);
	return has_share(e, "", bytes, min, why);
}

static bool is_many(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	if (e->process_count < 2 ||
	    !is_share(e->process_bytes, oom_evidence_base_bytes(e), MANY_MIN) ||
	    is_share(e->largest_bytes, e->process_bytes, min))
		return false;
	strbuf_addf(why, "the largest of %zu processes", e->process_count);
	add_share_text(why, " had", e->largest_bytes, e->process_bytes);
	return true;
}

static bool is_forked_lazyfree(const struct oom_evidence *e, unsigned int min,
			       struct strbuf *why)
{
	return has_share(e, "LazyFree memory shared with other processes was",
			 e->shared_lazyfree_bytes, min, why);
}

static bool is_hidden(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	char text[UNITS_TEXT_SIZE];

	if (!has_share(e, "hidden memory was", e->hidden_bytes, min, why))
		return false;
	if (bytes_known(e->hidden_working_set_bytes))
		strbuf_addf(why, " when the working set was %s",
			    units_format_bytes(e->hidden_working_set_bytes, text));
	return true;
}

/* Return true if less than the given fraction of the private memory is live. */
static bool is_mostly_free(const struct oom_evidence *e, unsigned int live_per_mille)
{
	return bytes_known(e->live_bytes) && bytes_known(e->private_bytes) &&
	       e->private_bytes > 0 &&
	       !is_share(e->live_bytes, e->private_bytes, live_per_mille);
}

/*
 * The verdict is "huge_pages" only if most of the memory in huge pages is free or was
 * freed with MADV_FREE. Huge pages in use do not waste memory.
 */
static bool is_huge_pages(const struct oom_evidence *e, unsigned int min,
			  struct strbuf *why)
{
	bool is_sparse = bytes_known(e->live_bytes) &&
			 bytes_known(e->at.live_anon_bytes) &&
			 !is_share(e->live_bytes, e->at.live_anon_bytes, RETENTION_LIVE);
	char text[UNITS_TEXT_SIZE];

	if (!is_share(e->huge_bytes, e->at.live_anon_bytes, min) ||
	    !is_share(e->huge_bytes, oom_evidence_base_bytes(e), min / 2))
		return false;
	if (!is_sparse && !is_share(e->hidden_bytes, e->huge_bytes, min))
		return false;
	add_share_text(why, "huge pages were", e->huge_bytes, e->at.live_anon_bytes);
	strbuf_add_text(why, " of private memory, and ");
	if (is_sparse)
		strbuf_addf(why, "%s was live", units_format_bytes(e->live_bytes, text));
	else
		strbuf_addf(why, "%s had been freed lazily, and returned 2 MiB at a time",
			    units_format_bytes(e->hidden_bytes, text));
	return true;
}

static bool is_locked(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	uint64_t locked = bytes_or_0(e->locked_bytes),
		 pinned = bytes_or_0(e->unevictable_bytes);

	return has_share(e, "locked memory was", locked > pinned ? locked : pinned, min,
			 why);
}

/*
 * Return true if swap is full. In cgroup v1 reports, the swap limit includes memory, and
 * matters only if it is higher than the memory limit.
 */
static bool is_swap_full(const struct oom_evidence *e, unsigned int min,
			 struct strbuf *why)
{
	bool is_v1_report = e->kill && e->kill->version == CGROUP_V1;

	if (bytes_known(e->swap_fail_count) && e->swap_fail_count > 0) {
		strbuf_addf(why,
			    "a page could not be swapped out %llu times because "
			    "swap was full",
			    (unsigned long long)e->swap_fail_count);
		return true;
	}
	if (e->swap_limit_bytes == CGROUP_NO_LIMIT ||
	    !is_share(e->swap_bytes, e->swap_limit_bytes, min) ||
	    (is_v1_report && e->swap_limit_bytes <= e->at.limit_bytes))
		return false;
	add_share_text(why, "swap usage was", e->swap_bytes, e->swap_limit_bytes);
	return true;
}

/*
 * Append a phrase such as "the Java heap of app (7) may grow to 600.0M (-Xmx600m), but
 * the limit is 200.0M". The runtime's limit is not the cause if the process used little
 * memory when it was killed.
 */
static bool is_runtime_limit(const struct oom_evidence *e, unsigned int min,
			     struct strbuf *why)
{
	const struct runtime_limit *own = &e->runtime_limit;
	uint64_t whole = e->at.limit_bytes, may_bytes, has_bytes = e->runtime.rss_bytes;
	char may[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	if (!own->option || !bytes_known(whole) || whole == CGROUP_NO_LIMIT)
		return false;
	may_bytes = runtime_limit_bytes(own, whole);
	if (runtime_option_is_shared(own->option) && bytes_known(e->at.shmem_bytes))
		has_bytes = e->at.shmem_bytes;
	if (!is_share(may_bytes, whole, runtime_option_min_per_mille(own->option)) ||
	    (e->end == OOM_END_KILLED && !is_share(has_bytes, whole, min)))
		return false;
	strbuf_addf(why, "%s of %s (%d) may grow to %s (%s), %s the limit is %s",
		    runtime_option_title(own->option), e->runtime.name, e->runtime.pid,
		    units_format_bytes(may_bytes, may), own->text,
		    may_bytes > whole ? "but" : "and", units_format_bytes(whole, limit));
	return true;
}

/*
 * Return true if memory rose by at least the minimum share within BURST_NS before the
 * process ended, and had not been growing steadily before. If the last sample was recent,
 * memory allocated after it counts as part of the rise.
 */
static bool is_burst(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	uint64_t ns, rise = oom_evidence_rise_bytes(e, &ns);

	if (e->growth.kind == GROWTH_STEADY || ns > BURST_NS ||
	    !has_share(e, e->is_need_private ? "private memory rose by" : "need rose by",
		       rise, min, why))
		return false;
	add_duration_text(why, " within ", ns);
	return true;
}

/*
 * Return true if live memory does not grow, or grows slowly and at less than half the
 * rate of the memory need. Such a process does not leak memory, even if its Rss grows.
 */
static bool is_live_flat(const struct oom_evidence *e)
{
	enum growth_kind kind = e->live_growth.kind;

	if (kind == GROWTH_SLOW || kind == GROWTH_BRIEF)
		return e->live_growth.rate_bytes < e->growth.rate_bytes / 2;
	return kind == GROWTH_NONE || kind == GROWTH_FALLING || kind == GROWTH_PLATEAU;
}

static bool is_leak(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	char rate[UNITS_TEXT_SIZE], floors[UNITS_TEXT_SIZE];

	if (e->growth.kind != GROWTH_STEADY || is_live_flat(e) ||
	    !is_share(e->at.live_anon_bytes, oom_evidence_base_bytes(e), min))
		return false;
	units_format_rate(e->growth.rate_bytes, e->growth.rate_bytes, rate);
	strbuf_addf(why, "its floor rose at %s for %s", rate + (rate[0] == '+'),
		    units_format_duration(e->span_ns, floors));
	if (e->live_growth.kind == GROWTH_STEADY)
		strbuf_add_text(why, ", and live memory with it");
	add_share_text(why, "; private memory was", e->at.live_anon_bytes,
		       oom_evidence_base_bytes(e));
	return true;
}

/* the free private memory must also reach a minimum share of the limit */
static bool is_retention(const struct oom_evidence *e, unsigned int min,
			 struct strbuf *why)
{
	if (!is_mostly_free(e, min) ||
	    !is_share(bytes_sub(e->private_bytes, e->live_bytes),
		      oom_evidence_base_bytes(e), RETENTION_FREE))
		return false;
	add_share_text(why, "live memory was", e->live_bytes, e->private_bytes);
	strbuf_add_text(why, " of private memory");
	return true;
}

static bool is_limit_too_small(const struct oom_evidence *e, unsigned int min,
			       struct strbuf *why)
{
	if (e->growth.kind == GROWTH_TOO_SHORT || e->growth.kind == GROWTH_STEADY ||
	    !has_share(e,
		       e->is_need_private ? "private memory was usually"
					  : "need was usually",
		       e->typical_bytes, min, why))
		return false;
	add_duration_text(why, " over ", e->span_ns);
	return true;
}

/* The fallback verdict if no more specific verdict holds. */
static bool is_private_memory(const struct oom_evidence *e, unsigned int min,
			      struct strbuf *why)
{
	_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;

	for (int v = OOM_WHY_FORKED_LAZYFREE; v < OOM_WHY_PRIVATE_MEMORY; v++)
		if (oom_verdict_holds((enum oom_verdict)v, e, &unused))
			return false;
	return has_share(e, "private memory was", e->at.live_anon_bytes, min, why);
}

static bool is_gap(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	if (!has_share(e, "the last sample lacks", oom_evidence_gap_bytes(e), min, why))
		return false;
	if (e->age_ns != UINT64_MAX)
		add_duration_text(why, ", which were allocated within ", e->age_ns);
	return true;
}

static bool is_page_cache(const struct oom_evidence *e, unsigned int min,
			  struct strbuf *why)
{
	if (!has_share(e, "page cache was", e->at.file_bytes, min, why))
		return false;
	if (is_share(e->dirty_bytes, oom_evidence_base_bytes(e), DIRTY_MIN))
		add_share_text(why, ", and pages that had not been written back were",
			       e->dirty_bytes, oom_evidence_base_bytes(e));
	return true;
}

static bool is_lazyfree(const struct oom_evidence *e, unsigned int min,
			struct strbuf *why)
{
	if (!is_share(e->last.lazyfree_bytes, e->last.usage_bytes, min))
		return false;
	add_share_text(why, "LazyFree was", e->last.lazyfree_bytes, e->last.usage_bytes);
	strbuf_add_text(why, " of usage");
	return true;
}

static bool is_hugetlb(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	char text[UNITS_TEXT_SIZE];

	(void)min;
	if (bytes_or_0(e->hugetlb_bytes) == 0)
		return false;
	strbuf_add_text(why, units_format_bytes(e->hugetlb_bytes, text));
	return true;
}

static bool is_nobody(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	(void)min;
	if (bytes_known(e->last.need_bytes) && bytes_known(oom_evidence_base_bytes(e)))
		add_share_text(why, "need was", e->last.need_bytes,
			       oom_evidence_base_bytes(e));
	return true;
}

static bool is_unknown(const struct oom_evidence *e, unsigned int min, struct strbuf *why)
{
	(void)e;
	(void)min;
	(void)why;
	return true;
}

const oom_rule oom_rules[OOM_VERDICT_COUNT_] = {
	[OOM_WHY_RSS_WATCHER] = is_rss_watcher,
	[OOM_WHY_NOT_KERNEL] = is_not_kernel,
	[OOM_WHY_SYSRQ] = is_sysrq,
	[OOM_WHY_NODE] = is_node,
	[OOM_WHY_CPUSET] = is_cpuset,
	[OOM_WHY_ANCESTOR] = is_ancestor,
	[OOM_WHY_LEFTOVERS] = is_leftovers,
	[OOM_WHY_SHMEM] = is_shmem,
	[OOM_WHY_KERNEL_MEMORY] = is_kernel_memory,
	[OOM_WHY_STACKS] = is_stacks,
	[OOM_WHY_MANY] = is_many,
	[OOM_WHY_FORKED_LAZYFREE] = is_forked_lazyfree,
	[OOM_WHY_HIDDEN] = is_hidden,
	[OOM_WHY_HUGE_PAGES] = is_huge_pages,
	[OOM_WHY_LOCKED] = is_locked,
	[OOM_WHY_SWAP_FULL] = is_swap_full,
	[OOM_WHY_RUNTIME_LIMIT] = is_runtime_limit,
	[OOM_WHY_BURST] = is_burst,
	[OOM_WHY_LEAK] = is_leak,
	[OOM_WHY_RETENTION] = is_retention,
	[OOM_WHY_LIMIT_TOO_SMALL] = is_limit_too_small,
	[OOM_WHY_PRIVATE_MEMORY] = is_private_memory,
	[OOM_WHY_GAP] = is_gap,
	[OOM_WHY_PAGE_CACHE] = is_page_cache,
	[OOM_WHY_LAZYFREE] = is_lazyfree,
	[OOM_WHY_HUGETLB] = is_hugetlb,
	[OOM_WHY_NOBODY] = is_nobody,
	[OOM_WHY_UNKNOWN] = is_unknown,
};
