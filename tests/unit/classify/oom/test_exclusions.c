/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of verdicts, and that contradicting verdicts are never reported together. */
#include "config.h"

#include "classify/oom/exclusions.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "../../support/unit.h"

#define LIMIT (64 * MIB)

static void exclusions_are_symmetric_and_never_reflexive(void **state)
{
	(void)state;
	for (int a = 0; a < OOM_VERDICT_COUNT_; a++) {
		assert_false(
			oom_verdicts_exclude((enum oom_verdict)a, (enum oom_verdict)a));
		for (int b = 0; b < OOM_VERDICT_COUNT_; b++)
			assert_int_equal(oom_verdicts_exclude((enum oom_verdict)a,
							      (enum oom_verdict)b),
					 oom_verdicts_exclude((enum oom_verdict)b,
							      (enum oom_verdict)a));
	}
}

static void contradicting_verdicts_exclude_each_other(void **state)
{
	static const enum oom_verdict pairs[][2] = {
		{ OOM_WHY_SYSRQ, OOM_WHY_NODE },
		{ OOM_WHY_SYSRQ, OOM_WHY_SHMEM },
		{ OOM_WHY_NODE, OOM_WHY_CPUSET },
		{ OOM_WHY_NODE, OOM_WHY_ANCESTOR },
		{ OOM_WHY_NODE, OOM_WHY_LIMIT_TOO_SMALL },
		{ OOM_WHY_CPUSET, OOM_WHY_PRIVATE_MEMORY },
		{ OOM_WHY_LEFTOVERS, OOM_WHY_SHMEM },
		{ OOM_WHY_MANY, OOM_WHY_PRIVATE_MEMORY },
		{ OOM_WHY_BURST, OOM_WHY_LEAK },
		{ OOM_WHY_BURST, OOM_WHY_LIMIT_TOO_SMALL },
		{ OOM_WHY_LEAK, OOM_WHY_LIMIT_TOO_SMALL },
		{ OOM_WHY_LEAK, OOM_WHY_RETENTION },
		{ OOM_WHY_RETENTION, OOM_WHY_LIMIT_TOO_SMALL },
		{ OOM_WHY_NOT_KERNEL, OOM_WHY_NODE },
		{ OOM_WHY_RSS_WATCHER, OOM_WHY_LEAK },
	};
	static const enum oom_verdict others[][2] = {
		{ OOM_WHY_ANCESTOR, OOM_WHY_SHMEM },
		{ OOM_WHY_NODE, OOM_WHY_LEAK },
		{ OOM_WHY_HIDDEN, OOM_WHY_BURST },
		{ OOM_WHY_SHMEM, OOM_WHY_KERNEL_MEMORY },
		{ OOM_WHY_SWAP_FULL, OOM_WHY_LEAK },
		{ OOM_WHY_RSS_WATCHER, OOM_WHY_NOT_KERNEL },
		{ OOM_WHY_PAGE_CACHE, OOM_WHY_NODE },
		{ OOM_WHY_HUGETLB, OOM_WHY_SYSRQ },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_true(oom_verdicts_exclude(pairs[i][0], pairs[i][1]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(oom_verdicts_exclude(others[i][0], others[i][1]));
}

static uint64_t some_bytes(void)
{
	return rand() % 6 == 0 ? BYTES_UNKNOWN : (uint64_t)rand() % (LIMIT + 1);
}

/* Make random evidence, whether or not it makes sense. */
static void make(struct oom_evidence *e, struct oom_kill *k)
{
	oom_evidence_init(e);
	*k = (struct oom_kill){ .is_sysrq = rand() % 8 == 0, .order = COUNT_UNKNOWN };
	e->end = (enum oom_end)(rand() % OOM_END_COUNT_);
	e->kill = rand() % 2 ? k : NULL;
	e->has_sample = true;
	e->constraint = (enum oom_constraint)(rand() % (OOM_NODES + 1));
	e->is_kernel_excluded = rand() % 2;
	e->is_limit_above = rand() % 4 == 0;
	text_copy(e->limit_path, sizeof(e->limit_path), "/g");
	text_copy(e->victim_path, sizeof(e->victim_path), rand() % 2 ? "/g" : "/g/kid");
	e->at.limit_bytes = e->last.limit_bytes = LIMIT;
	e->at.usage_bytes = e->last.usage_bytes = LIMIT;
	e->at.need_bytes = e->last.need_bytes = LIMIT - (uint64_t)rand() % MIB;
	e->at.live_anon_bytes = some_bytes();
	e->at.shmem_bytes = some_bytes();
	e->at.kernel_bytes = some_bytes();
	e->at.file_bytes = some_bytes();
	e->last.lazyfree_bytes = some_bytes();
	e->hidden_bytes = some_bytes();
	e->huge_bytes = some_bytes();
	e->locked_bytes = some_bytes();
	e->stack_bytes = some_bytes();
	e->thread_count = (uint64_t)rand() % 200;
	e->live_bytes = some_bytes();
	e->private_bytes = some_bytes();
	e->typical_bytes = some_bytes();
	e->low_bytes = some_bytes();
	e->process_count = (size_t)rand() % 9;
	e->process_bytes = some_bytes();
	e->largest_bytes = some_bytes();
	e->shared_lazyfree_bytes = some_bytes();
	e->swap_fail_count = (uint64_t)rand() % 2;
	e->age_ns = (uint64_t)rand() % NS_PER_S;
	e->growth.kind = (enum growth_kind)(rand() % (GROWTH_STEADY + 1));
	e->victim.rss_bytes = some_bytes();
	e->victim.lazyfree_bytes = some_bytes();
}

static void random_evidence_gives_no_contradicting_verdicts(void **state)
{
	bool seen[OOM_VERDICT_COUNT_] = { false };
	size_t left_out = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 100000; round++) {
		_cleanup_strbuf_ struct strbuf unused = STRBUF_INIT;
		enum oom_verdict all[OOM_VERDICT_COUNT_ + 1];
		struct oom_evidence e;
		struct oom_kill k;
		size_t count, held = 0;

		make(&e, &k);
		all[0] = oom_verdict_find(&e);
		count = 1 + oom_verdicts_find_also(&e, all[0], all + 1);
		for (size_t i = 0; i < count; i++) {
			seen[all[i]] = true;
			assert_true(oom_verdict_holds(all[i], &e, &unused));
			for (size_t j = 0; j < i; j++)
				assert_false(oom_verdicts_exclude(all[i], all[j]) ||
					     all[i] == all[j]);
		}
		for (int v = 0; v < OOM_WHY_FILLERS; v++)
			held += v != (int)all[0] &&
				oom_verdict_holds((enum oom_verdict)v, &e, &unused);
		assert_true(held + 1 >= count);
		left_out += held + 1 - count;
	}
	assert_true(left_out > 1000);
	assert_true(seen[OOM_WHY_SYSRQ] && seen[OOM_WHY_NODE] && seen[OOM_WHY_MANY] &&
		    seen[OOM_WHY_BURST] && seen[OOM_WHY_RETENTION] &&
		    seen[OOM_WHY_NOT_KERNEL]);
}

static void every_verdict_has_a_title_and_advice(void **state)
{
	(void)state;
	for (int v = 0; v < OOM_VERDICT_COUNT_; v++) {
		const struct oom_verdict_info *info = &oom_verdicts[v];
		struct strbuf advice = STRBUF_INIT;
		struct oom_evidence e;
		struct oom_kill k;

		make(&e, &k);
		runtime_limit_find("/usr/bin/java -Xmx600m Main", NULL, 0,
				   &e.runtime_limit);
		oom_verdict_add_advice((enum oom_verdict)v, &e, &advice);
		assert_row(info->name && info->title && strlen(info->title) > 20,
			   info->name);
		assert_row(advice.length > 20, info->name);
		strbuf_release(&advice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exclusions_are_symmetric_and_never_reflexive),
		cmocka_unit_test(contradicting_verdicts_exclude_each_other),
		cmocka_unit_test(every_verdict_has_a_title_and_advice),
		cmocka_unit_test(random_evidence_gives_no_contradicting_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
