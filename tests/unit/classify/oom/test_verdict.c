/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each rule with evidence for which it holds, and with one change
 * after which it just does not.
 */
#include "config.h"

#include "classify/oom/verdict.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "../../support/made_runtime.h"
#include "../../support/unit.h"

#define LIMIT (64 * MIB)

typedef void (*make_fn)(struct oom_evidence *e);

/* A process killed by the limit of its own group, which was full. */
static void begin(struct oom_evidence *e, enum oom_end end)
{
	oom_evidence_init(e);
	e->end = end;
	e->has_sample = true;
	e->constraint = OOM_CGROUP;
	text_copy(e->limit_path, sizeof(e->limit_path), "/g");
	text_copy(e->victim_path, sizeof(e->victim_path), "/g");
	e->at.limit_bytes = e->last.limit_bytes = LIMIT;
	e->at.usage_bytes = e->last.usage_bytes = LIMIT;
	e->at.need_bytes = e->last.need_bytes = LIMIT;
	e->at.live_anon_bytes = e->at.shmem_bytes = e->at.kernel_bytes = 0;
	e->at.file_bytes = e->last.lazyfree_bytes = 0;
	e->process_count = 1;
	e->process_bytes = e->largest_bytes = 60 * MIB;
	e->interval_ns = e->age_ns = 100 * NS_PER_MS;
	e->low_bytes = LIMIT;
}

static void killed(struct oom_evidence *e)
{
	begin(e, OOM_END_KILLED);
}

static void full_of_private_memory(struct oom_evidence *e)
{
	killed(e);
	e->at.live_anon_bytes = 62 * MIB;
}

static void watcher(struct oom_evidence *e)
{
	begin(e, OOM_END_GONE);
	e->is_kernel_excluded = true;
	e->victim.rss_bytes = 52 * MIB;
	e->victim.lazyfree_bytes = 40 * MIB;
}

static void watcher_of_what_was_needed(struct oom_evidence *e)
{
	watcher(e);
	e->victim.lazyfree_bytes = 5 * MIB;
}

static void ended(struct oom_evidence *e)
{
	watcher_of_what_was_needed(e);
}

static void ended_and_the_kernel_may_have(struct oom_evidence *e)
{
	ended(e);
	e->is_kernel_excluded = false;
}

static void node(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->constraint = OOM_GLOBAL;
}

static const struct oom_kill asked_for = { .is_sysrq = true };

static void sysrq(struct oom_evidence *e)
{
	node(e);
	e->kill = &asked_for;
}

static void cpuset(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->constraint = OOM_NODES;
}

static void ancestor(struct oom_evidence *e)
{
	full_of_private_memory(e);
	text_copy(e->victim_path, sizeof(e->victim_path), "/g/kid");
}

static void unseen_ancestor(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->limit_path[0] = '\0';
	e->is_limit_above = true;
}

static void unseen_but_own(struct oom_evidence *e)
{
	unseen_ancestor(e);
	e->is_limit_above = false;
}

static void leftovers(struct oom_evidence *e)
{
	killed(e);
	e->at.shmem_bytes = 40 * MIB;
	e->at.live_anon_bytes = 12 * MIB;
	e->process_bytes = e->largest_bytes = 13 * MIB;
}

static void shmem_of_a_process(struct oom_evidence *e)
{
	leftovers(e);
	e->process_bytes = e->largest_bytes = 53 * MIB;
}

static void shmem_but_more_private_memory(struct oom_evidence *e)
{
	shmem_of_a_process(e);
	e->at.shmem_bytes = 30 * MIB;
	e->at.live_anon_bytes = 32 * MIB;
}

static void kernel_memory(struct oom_evidence *e)
{
	killed(e);
	e->at.live_anon_bytes = 30 * MIB;
	e->at.kernel_bytes = 30 * MIB;
}

static void kernel_memory_beside_much_more(struct oom_evidence *e)
{
	kernel_memory(e);
	e->at.live_anon_bytes = 46 * MIB;
	e->at.kernel_bytes = 17 * MIB;
}

static void sockets(struct oom_evidence *e)
{
	killed(e);
	e->at.live_anon_bytes = 30 * MIB;
	e->at.kernel_bytes = 2 * MIB;
	e->at.sock_bytes = 30 * MIB;
	e->at.other_kernel_bytes = MIB;
}

static void stacks(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->thread_count = 251;
	e->stack_bytes = 50 * MIB;
}

static void few_stacks(struct oom_evidence *e)
{
	stacks(e);
	e->thread_count = 8;
}

static void many(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->process_count = 8;
	e->process_bytes = 62 * MIB;
	e->largest_bytes = 9 * MIB;
}

static void many_but_one_large(struct oom_evidence *e)
{
	many(e);
	e->largest_bytes = 40 * MIB;
}

static void forked_lazyfree(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->shared_lazyfree_bytes = 50 * MIB;
}

static void little_forked_lazyfree(struct oom_evidence *e)
{
	forked_lazyfree(e);
	e->shared_lazyfree_bytes = 6 * MIB;
}

static void hidden(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->hidden_bytes = 50 * MIB;
}

static void nothing_hidden(struct oom_evidence *e)
{
	hidden(e);
	e->hidden_bytes = 2 * MIB;
}

static void sparse_huge_pages(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->huge_bytes = 50 * MIB;
	e->private_bytes = 62 * MIB;
	e->live_bytes = 10 * MIB;
}

static void full_huge_pages(struct oom_evidence *e)
{
	sparse_huge_pages(e);
	e->live_bytes = 55 * MIB;
}

static void locked(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->unevictable_bytes = 40 * MIB;
}

static void little_locked(struct oom_evidence *e)
{
	locked(e);
	e->unevictable_bytes = 15 * MIB;
}

static void swap_full(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->swap_bytes = 16 * MIB;
	e->swap_limit_bytes = 16 * MIB;
}

static void swap_without_a_limit(struct oom_evidence *e)
{
	swap_full(e);
	e->swap_limit_bytes = CGROUP_NO_LIMIT;
}

static void burst(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->growth.kind = GROWTH_NONE;
	e->low_bytes = 24 * MIB;
	e->low_age_ns = NS_PER_S;
}

static void growth_that_is_quick(struct oom_evidence *e)
{
	burst(e);
	e->growth.kind = GROWTH_STEADY;
}

static void burst_after_the_last_sample(struct oom_evidence *e)
{
	killed(e);
	e->at.live_anon_bytes = e->at.need_bytes = e->last.need_bytes = 2 * MIB;
	e->low_bytes = 2 * MIB;
}

static void long_after_the_last_sample(struct oom_evidence *e)
{
	burst_after_the_last_sample(e);
	e->age_ns = 60 * NS_PER_S;
}

static void leak(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->growth.kind = GROWTH_STEADY;
	e->growth.rate_bytes = (int64_t)MIB;
}

static void growth_of_what_is_not_live(struct oom_evidence *e)
{
	leak(e);
	e->live_growth.kind = GROWTH_NONE;
}

static void retention(struct oom_evidence *e)
{
	growth_of_what_is_not_live(e);
	e->private_bytes = 60 * MIB;
	e->live_bytes = 20 * MIB;
}

static void most_is_live(struct oom_evidence *e)
{
	retention(e);
	e->live_bytes = 50 * MIB;
}

static void too_small(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->growth.kind = GROWTH_PLATEAU;
	e->typical_bytes = 60 * MIB;
}

static void usually_far_below(struct oom_evidence *e)
{
	too_small(e);
	e->typical_bytes = 40 * MIB;
}

static void half_private(struct oom_evidence *e)
{
	full_of_private_memory(e);
	e->at.live_anon_bytes = 30 * MIB;
}

static void nearly_all_was_seen(struct oom_evidence *e)
{
	long_after_the_last_sample(e);
	e->last.need_bytes = 60 * MIB;
}

static void lives_on(struct oom_evidence *e)
{
	begin(e, OOM_END_NONE);
	e->at.need_bytes = e->last.need_bytes = 10 * MIB;
}

static void page_cache(struct oom_evidence *e)
{
	lives_on(e);
	e->at.file_bytes = 40 * MIB;
}

static void little_page_cache(struct oom_evidence *e)
{
	page_cache(e);
	e->at.file_bytes = 10 * MIB;
}

static void lazyfree(struct oom_evidence *e)
{
	lives_on(e);
	e->last.lazyfree_bytes = 23 * MIB;
}

static void little_lazyfree(struct oom_evidence *e)
{
	lazyfree(e);
	e->last.lazyfree_bytes = 8 * MIB;
}

static void hugetlb(struct oom_evidence *e)
{
	lives_on(e);
	e->hugetlb_bytes = 40 * MIB;
}

static void unknown(struct oom_evidence *e)
{
	oom_evidence_init(e);
	e->end = OOM_END_KILLED;
}

static const struct {
	enum oom_verdict verdict;
	make_fn trigger, near_miss;
} rules[] = {
	{ OOM_WHY_RSS_WATCHER, watcher, watcher_of_what_was_needed },
	{ OOM_WHY_NOT_KERNEL, ended, ended_and_the_kernel_may_have },
	{ OOM_WHY_SYSRQ, sysrq, node },
	{ OOM_WHY_NODE, node, cpuset },
	{ OOM_WHY_CPUSET, cpuset, node },
	{ OOM_WHY_ANCESTOR, ancestor, full_of_private_memory },
	{ OOM_WHY_ANCESTOR, unseen_ancestor, unseen_but_own },
	{ OOM_WHY_LEFTOVERS, leftovers, shmem_of_a_process },
	{ OOM_WHY_SHMEM, shmem_of_a_process, shmem_but_more_private_memory },
	{ OOM_WHY_KERNEL_MEMORY, kernel_memory, kernel_memory_beside_much_more },
	{ OOM_WHY_KERNEL_MEMORY, sockets, full_of_private_memory },
	{ OOM_WHY_STACKS, stacks, few_stacks },
	{ OOM_WHY_MANY, many, many_but_one_large },
	{ OOM_WHY_FORKED_LAZYFREE, forked_lazyfree, little_forked_lazyfree },
	{ OOM_WHY_HIDDEN, hidden, nothing_hidden },
	{ OOM_WHY_HUGE_PAGES, sparse_huge_pages, full_huge_pages },
	{ OOM_WHY_LOCKED, locked, little_locked },
	{ OOM_WHY_SWAP_FULL, swap_full, swap_without_a_limit },
	{ OOM_WHY_RUNTIME_LIMIT, made_heap_above_limit, made_heap_below_limit },
	{ OOM_WHY_RUNTIME_LIMIT, made_heap_of_all, made_heap_of_a_small_process },
	{ OOM_WHY_RUNTIME_LIMIT, made_heap_that_may_outgrow, made_heap_that_fits },
	{ OOM_WHY_BURST, burst, growth_that_is_quick },
	{ OOM_WHY_BURST, burst_after_the_last_sample, long_after_the_last_sample },
	{ OOM_WHY_LEAK, leak, growth_of_what_is_not_live },
	{ OOM_WHY_RETENTION, retention, most_is_live },
	{ OOM_WHY_LIMIT_TOO_SMALL, too_small, usually_far_below },
	{ OOM_WHY_PRIVATE_MEMORY, full_of_private_memory, half_private },
	{ OOM_WHY_GAP, long_after_the_last_sample, nearly_all_was_seen },
	{ OOM_WHY_PAGE_CACHE, page_cache, little_page_cache },
	{ OOM_WHY_LAZYFREE, lazyfree, little_lazyfree },
	{ OOM_WHY_HUGETLB, hugetlb, lives_on },
	{ OOM_WHY_NOBODY, lives_on, lazyfree },
	{ OOM_WHY_UNKNOWN, unknown, full_of_private_memory },
};

static void each_rule_holds_in_its_scenario_but_not_in_its_near_miss(void **state)
{
	bool seen[OOM_VERDICT_COUNT_] = { false };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const char *name = oom_verdicts[rules[i].verdict].name;
		struct oom_evidence e;

		seen[rules[i].verdict] = true;
		rules[i].trigger(&e);
		if (oom_verdict_find(&e) != rules[i].verdict)
			fail_msg("row %zu: %s, not %s", i,
				 oom_verdicts[oom_verdict_find(&e)].name, name);
		rules[i].near_miss(&e);
		assert_row(oom_verdict_find(&e) != rules[i].verdict, name);
	}
	for (int v = 0; v < OOM_VERDICT_COUNT_; v++)
		assert_row(seen[v], oom_verdicts[v].name);
}

static void near_misses_are_not_additional_verdicts_either(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct strbuf why = STRBUF_INIT;
		struct oom_evidence e;

		rules[i].near_miss(&e);
		if (rules[i].verdict < OOM_WHY_FILLERS)
			assert_row(!oom_verdict_holds(rules[i].verdict, &e, &why),
				   oom_verdicts[rules[i].verdict].name);
		/* a verdict that does not hold adds no text */
		assert_row(rules[i].verdict >= OOM_WHY_FILLERS || why.length == 0,
			   oom_verdicts[rules[i].verdict].name);
		strbuf_release(&why);
	}
}

static void the_page_cache_is_only_an_additional_verdict(void **state)
{
	struct strbuf why = STRBUF_INIT;
	struct oom_evidence e;

	(void)state;
	killed(&e);
	e.at.file_bytes = 40 * MIB;
	e.dirty_bytes = 20 * MIB;
	assert_int_equal(oom_verdict_find(&e), OOM_WHY_UNKNOWN);
	assert_true(oom_verdict_holds(OOM_WHY_PAGE_CACHE, &e, &why));
	assert_non_null(strstr(why.text, "not been written back"));
	strbuf_release(&why);
}

static void huge_pages_are_an_additional_verdict_to_hidden_memory(void **state)
{
	struct strbuf why = STRBUF_INIT;
	struct oom_evidence e;

	(void)state;
	hidden(&e);
	e.huge_bytes = 50 * MIB;
	assert_int_equal(oom_verdict_find(&e), OOM_WHY_HIDDEN);
	assert_true(oom_verdict_holds(OOM_WHY_HUGE_PAGES, &e, &why));
	nothing_hidden(&e);
	e.huge_bytes = 50 * MIB;
	assert_false(oom_verdict_holds(OOM_WHY_HUGE_PAGES, &e, &why));
	strbuf_release(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_rule_holds_in_its_scenario_but_not_in_its_near_miss),
		cmocka_unit_test(near_misses_are_not_additional_verdicts_either),
		cmocka_unit_test(the_page_cache_is_only_an_additional_verdict),
		cmocka_unit_test(huge_pages_are_an_additional_verdict_to_hidden_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
