/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/evidence.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"

/*
 * Memory that cannot be reclaimed accounts for the whole limit if it is at least this
 * many thousandths of the limit.
 */
#define EXPLAINED_MIN 900

const char *const oom_end_names[OOM_END_COUNT_] = {
	[OOM_END_KILLED] = "killed",
	[OOM_END_GONE] = "gone",
	[OOM_END_NONE] = "none",
};

const char *const oom_confidence_names[OOM_HIGH + 1] = {
	[OOM_LOW] = "low",
	[OOM_MEDIUM] = "medium",
	[OOM_HIGH] = "high",
};

void oom_evidence_init(struct oom_evidence *e)
{
	*e = (struct oom_evidence){
		.end = OOM_END_NONE,
		.unevictable_bytes = BYTES_UNKNOWN,
		.dirty_bytes = BYTES_UNKNOWN,
		.huge_bytes = BYTES_UNKNOWN,
		.swap_bytes = BYTES_UNKNOWN,
		.swap_limit_bytes = BYTES_UNKNOWN,
		.process_bytes = BYTES_UNKNOWN,
		.largest_bytes = BYTES_UNKNOWN,
		.age_ns = UINT64_MAX,
		.hidden_bytes = BYTES_UNKNOWN,
		.hidden_working_set_bytes = BYTES_UNKNOWN,
		.thread_count = COUNT_UNKNOWN,
		.stack_bytes = BYTES_UNKNOWN,
		.shared_lazyfree_bytes = BYTES_UNKNOWN,
		.locked_bytes = BYTES_UNKNOWN,
		.hugetlb_bytes = BYTES_UNKNOWN,
		.private_bytes = BYTES_UNKNOWN,
		.live_bytes = BYTES_UNKNOWN,
		.typical_bytes = BYTES_UNKNOWN,
		.low_bytes = BYTES_UNKNOWN,
		.victim = { .rss_bytes = BYTES_UNKNOWN, .lazyfree_bytes = BYTES_UNKNOWN },
		.runtime = { .rss_bytes = BYTES_UNKNOWN,
			     .lazyfree_bytes = BYTES_UNKNOWN },
	};
	/*
	 * set all bits, which makes all amounts unknown; both structs contain
	 * only amounts
	 */
	memset(&e->at, 0xff, sizeof(e->at));
	memset(&e->last, 0xff, sizeof(e->last));
}

/*
 * Return the sum of the page table sizes in the kernel report's list of tasks. With
 * cgroup v1, memory.stat in the report does not include page tables.
 */
static uint64_t sum_pagetables(const struct oom_kill *k)
{
	uint64_t sum = k->task_count > 0 ? 0 : BYTES_UNKNOWN;

	for (size_t i = 0; i < k->task_count; i++)
		sum = bytes_add(sum, k->tasks[i].pagetables_bytes);
	return sum;
}

/*
 * Compute the memory figures of the cgroup from the kernel's report, in the same way as
 * for a live cgroup.
 */
static void set_figures(struct oom_evidence *e, const struct oom_kill *k)
{
	struct cgroup_level level = { .usage_bytes = k->usage_bytes,
				      .limit_bytes = k->limit_bytes };
	const struct snapshot nobody = { 0 };
	struct cgroup cgroup;

	cgroup_init(&cgroup);
	cgroup.version = k->version;
	cgroup.levels = &level;
	cgroup.level_count = 1;
	cgroup.tightest = bytes_known(k->limit_bytes) && k->limit_bytes != CGROUP_NO_LIMIT
				  ? 0
				  : SIZE_MAX;
	cgroup.stat = cgroup.limit_stat = k->stat;
	if (!bytes_known(cgroup.limit_stat.pagetables_bytes))
		cgroup.limit_stat.pagetables_bytes = sum_pagetables(k);
	oom_figures_find(&cgroup, &nobody, &e->at);
}

static uint64_t at_most(uint64_t sum, uint64_t max)
{
	return bytes_known(max) && sum > max ? max : sum;
}

/*
 * Set the sums over processes from the kernel report's list of tasks, where the Rss of
 * each process includes shared pages. If private memory is listed separately (Linux 6.7
 * and later), add up private memory and count shared memory once, as in memory.stat.
 * Otherwise limit the sum of Rss to the cgroup's usage.
 */
static void set_tasks(struct oom_evidence *e, const struct oom_kill *k)
{
	uint64_t private = 0, shmem = 0, files = 0, rss = 0, largest = 0, largest_rss = 0;

	if (k->task_count == 0)
		return;
	for (size_t i = 0; i < k->task_count; i++) {
		const struct oom_task *task = &k->tasks[i];

		private = bytes_add(private, task->anon_bytes);
		shmem = bytes_add(shmem, task->shmem_bytes);
		files = bytes_add(files, task->file_bytes);
		rss = bytes_add(rss, bytes_or_0(task->rss_bytes));
		if (bytes_or_0(task->anon_bytes) > largest)
			largest = task->anon_bytes;
		if (bytes_or_0(task->rss_bytes) > largest_rss)
			largest_rss = task->rss_bytes;
	}
	e->process_count = k->task_count;
	if (bytes_known(private) && bytes_known(k->stat.shmem_bytes)) {
		shmem = at_most(bytes_or_0(shmem), k->stat.shmem_bytes);
		files = at_most(bytes_or_0(files), k->stat.file_mapped_bytes);
		e->process_bytes = bytes_add(bytes_add(private, shmem), files);
		/*
		 * assume that the largest process maps all shared memory of the cgroup,
		 * as far as its Rss allows
		 */
		e->largest_bytes =
			at_most(largest_rss, bytes_add(bytes_add(largest, shmem), files));
	} else {
		e->process_bytes = at_most(rss, k->usage_bytes);
		e->largest_bytes = at_most(largest_rss, e->process_bytes);
	}
}

static void set_path(char *to, const char *from)
{
	if (from[0] != '\0')
		text_copy(to, OOM_PATH_SIZE, from);
}

void oom_evidence_set_kill(struct oom_evidence *e, const struct oom_kill *k)
{
	e->end = OOM_END_KILLED;
	e->kill = k;
	e->constraint = k->constraint;
	e->is_kernel_excluded = false;
	if (e->unix_ms == 0)
		e->unix_ms = k->time.unix_ms;
	e->invoker.pid = k->invoker_pid;
	text_copy(e->invoker.name, sizeof(e->invoker.name), k->invoker);
	set_path(e->limit_path, k->limit_path);
	set_path(e->victim_path, k->victim_path);
	if (k->victim.pid != 0) {
		e->victim.pid = k->victim.pid;
		text_copy(e->victim.name, sizeof(e->victim.name), k->victim.name);
		e->victim.rss_bytes = k->victim.rss_bytes;
	}
	/*
	 * if the log contains only the line about the victim, the figures of the cgroup
	 * are missing
	 */
	if (!bytes_known(k->usage_bytes) && e->has_sample)
		return;
	set_figures(e, k);
	set_tasks(e, k);
	e->unevictable_bytes = k->stat.unevictable_bytes;
	e->dirty_bytes =
		bytes_add(k->stat.file_dirty_bytes, k->stat.file_writeback_bytes);
	/* reclaim splits huge pages, so prefer a sample that was taken before the kill */
	if (!e->has_sample)
		e->huge_bytes = k->stat.anon_thp_bytes;
	e->swap_bytes = k->swap_usage_bytes;
	e->swap_limit_bytes = k->swap_limit_bytes;
}

uint64_t oom_evidence_base_bytes(const struct oom_evidence *e)
{
	return bytes_known(e->at.limit_bytes) && e->at.limit_bytes != CGROUP_NO_LIMIT
		       ? e->at.limit_bytes
		       : e->at.usage_bytes;
}

uint64_t oom_evidence_gap_bytes(const struct oom_evidence *e)
{
	if (e->end != OOM_END_KILLED || !e->has_sample ||
	    (e->kill && bytes_known(e->kill->usage_bytes)) ||
	    !bytes_known(e->last.limit_bytes) || e->last.limit_bytes == CGROUP_NO_LIMIT)
		return BYTES_UNKNOWN;
	return bytes_sub(e->last.limit_bytes, e->last.need_bytes);
}

uint64_t oom_evidence_rise_bytes(const struct oom_evidence *e, uint64_t *ret_ns)
{
	uint64_t at_bytes = e->is_need_private ? e->at.live_anon_bytes : e->at.need_bytes;
	uint64_t rise_bytes = bytes_sub(at_bytes, e->low_bytes);

	*ret_ns = e->low_age_ns + (e->age_ns == UINT64_MAX ? 0 : e->age_ns);
	return bytes_add(rise_bytes, bytes_or_0(oom_evidence_gap_bytes(e)));
}

/*
 * Return true if memory that cannot be reclaimed accounts for the whole limit of the
 * cgroup. A small remainder may be in the kernel's per-CPU counters.
 */
static bool is_explained(const struct oom_evidence *e)
{
	uint64_t whole = oom_evidence_base_bytes(e);

	if (e->constraint == OOM_GLOBAL || e->constraint == OOM_NODES)
		return true;
	return bytes_known(whole) && bytes_known(e->at.need_bytes) && whole > 0 &&
	       units_per_mille(e->at.need_bytes, whole) >= EXPLAINED_MIN;
}

static enum oom_confidence add_exit_confidence(const struct oom_evidence *e,
					       struct strbuf *why)
{
	if (e->end == OOM_END_NONE) {
		strbuf_add_text(why, "according to the recording");
		return OOM_HIGH;
	}
	if (!e->is_kernel_excluded) {
		strbuf_add_text(why,
				"the kernel's kill count for its group was not recorded");
		return OOM_LOW;
	}
	strbuf_add_text(why, "the kernel's kill count did not change");
	return OOM_HIGH;
}

enum oom_confidence oom_evidence_confidence(const struct oom_evidence *e,
					    struct strbuf *why)
{
	char age[UNITS_TEXT_SIZE];
	bool is_explained_all = is_explained(e);

	if (e->end != OOM_END_KILLED)
		return add_exit_confidence(e, why);
	if (e->kill)
		strbuf_addf(why, "the kernel's report%s%s",
			    e->kill->is_cut ? ", with missing lines" : "",
			    e->kill->is_stat_stale ? ", whose memory.stat was outdated"
						   : "");
	if (e->has_sample)
		strbuf_addf(why, "%sa sample %s%s before", e->kill ? ", and " : "",
			    e->kill || e->age_ns == UINT64_MAX ? "" : "at most ",
			    e->age_ns == UINT64_MAX ? "some time"
			    : e->age_ns < NS_PER_MS
				    ? "less than 1ms"
				    : units_format_duration(e->age_ns, age));
	if (!is_explained_all)
		strbuf_add_text(why, "; not all of the limit is accounted for");
	if (e->kill && !e->has_sample)
		return e->kill->is_cut || !is_explained_all ? OOM_LOW : OOM_MEDIUM;
	if (!is_explained_all)
		return OOM_LOW;
	return e->age_ns <= e->interval_ns + e->interval_ns / 2 ? OOM_HIGH : OOM_MEDIUM;
}
