/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence about a kill from a report, from a recording, and from both. */
#include "config.h"

#include "classify/oom/evidence.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/oom/verdict.h"
#include "../../support/unit.h"

#define LIMIT (64 * MIB)

/*
 * A process killed by the limit of its own group, which needed need_bytes
 * a tenth of a second before.
 */
static void sampled(struct oom_evidence *e, uint64_t need_bytes)
{
	oom_evidence_init(e);
	e->end = OOM_END_KILLED;
	e->has_sample = true;
	e->constraint = OOM_CGROUP;
	e->at.limit_bytes = e->last.limit_bytes = LIMIT;
	e->at.need_bytes = e->last.need_bytes = need_bytes;
	e->at.live_anon_bytes = need_bytes;
	e->interval_ns = e->age_ns = 100 * NS_PER_MS;
}

/* Return a report of cgroup version 1, about a process whose page tables are large. */
static struct oom_kill report(struct oom_task *task)
{
	struct oom_kill k = { .constraint = OOM_CGROUP,
			      .usage_bytes = LIMIT,
			      .limit_bytes = LIMIT,
			      .version = CGROUP_V1,
			      .limit_path = "/g",
			      .victim_path = "/g",
			      .invoker = "hog",
			      .tasks = task,
			      .task_count = 1,
			      .swap_usage_bytes = LIMIT,
			      .swap_limit_bytes = CGROUP_NO_LIMIT };

	memset(&k.stat, 0xff, sizeof(k.stat));
	k.stat.anon_bytes = 40 * MIB;
	k.stat.file_bytes = k.stat.shmem_bytes = 0;
	k.stat.kernel_bytes = 24 * MIB;
	*task = (struct oom_task){ .pid = 7,
				   .name = "hog",
				   .rss_bytes = 41 * MIB,
				   .anon_bytes = 40 * MIB,
				   .file_bytes = MIB,
				   .pagetables_bytes = 22 * MIB };
	k.victim = *task;
	return k;
}

static void a_report_alone_is_evidence(void **state)
{
	struct oom_evidence e;
	struct oom_task task;
	struct oom_kill k = report(&task);
	struct strbuf why = STRBUF_INIT;

	(void)state;
	oom_evidence_init(&e);
	oom_evidence_set_kill(&e, &k);
	assert_int_equal(e.end, OOM_END_KILLED);
	assert_int_equal(oom_evidence_base_bytes(&e), LIMIT);
	assert_int_equal(e.at.need_bytes, LIMIT);
	assert_int_equal(e.at.pagetables_bytes, 22 * MIB);
	assert_int_equal(e.victim.pid, 7);
	assert_int_equal(e.process_bytes, 41 * MIB);
	assert_int_equal(oom_verdict_find(&e), OOM_WHY_KERNEL_MEMORY);
	assert_true(oom_evidence_gap_bytes(&e) == BYTES_UNKNOWN);
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_MEDIUM);
	k.is_cut = true;
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_LOW);
	strbuf_release(&why);
}

/* A report whose middle is missing does not show the rest of the group. */
static void the_victims_memory_is_not_its_groups_memory(void **state)
{
	static const enum oom_constraint constraints[] = { OOM_UNKNOWN, OOM_CGROUP,
							   OOM_NODES, OOM_GLOBAL };
	struct oom_evidence e;
	struct oom_task task;
	struct oom_kill k = report(&task);

	(void)state;
	memset(&k.stat, 0xff, sizeof(k.stat));
	for (size_t i = 0; i < ARRAY_SIZE(constraints); i++) {
		k.constraint = constraints[i];
		oom_evidence_init(&e);
		oom_evidence_set_kill(&e, &k);
		assert_int_equal(e.victim.pid, 7);
		assert_true(e.at.live_anon_bytes == BYTES_UNKNOWN);
	}
}

/* Eight processes map the same 30 MiB, which counts once. */
static void shared_memory_counts_once(void **state)
{
	struct oom_task tasks[8];
	struct oom_kill k = report(&tasks[0]);
	struct oom_evidence e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = (struct oom_task){ .pid = (int)i + 1,
					      .rss_bytes = 33 * MIB,
					      .anon_bytes = 2 * MIB,
					      .file_bytes = MIB,
					      .shmem_bytes = 30 * MIB };
	k.task_count = ARRAY_SIZE(tasks);
	k.stat.shmem_bytes = 30 * MIB;
	k.stat.file_mapped_bytes = MIB;
	oom_evidence_init(&e);
	oom_evidence_set_kill(&e, &k);
	assert_int_equal(e.process_bytes, (8 * 2 + 30 + 1) * MIB);
	assert_int_equal(e.largest_bytes, (2 + 30 + 1) * MIB);
	assert_int_not_equal(oom_verdict_find(&e), OOM_WHY_MANY);
	/* without those columns the usage is the upper bound */
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i].anon_bytes = tasks[i].shmem_bytes = tasks[i].file_bytes =
			BYTES_UNKNOWN;
	oom_evidence_init(&e);
	oom_evidence_set_kill(&e, &k);
	assert_int_equal(e.process_bytes, LIMIT);
	assert_int_equal(e.largest_bytes, 33 * MIB);
}

static void a_report_has_the_state_at_the_kill_and_a_sample_the_state_before(void **state)
{
	struct oom_evidence e;
	struct oom_task task;
	struct oom_kill k = report(&task);
	struct strbuf why = STRBUF_INIT;

	(void)state;
	sampled(&e, 20 * MIB);
	e.hidden_bytes = 50 * MIB;
	oom_evidence_set_kill(&e, &k);
	assert_int_equal(e.at.live_anon_bytes, 40 * MIB);
	assert_int_equal(e.last.need_bytes, 20 * MIB);
	assert_int_equal(e.hidden_bytes, 50 * MIB);
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_HIGH);
	e.age_ns = 10 * NS_PER_S;
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_MEDIUM);
	strbuf_release(&why);
}

static void a_line_that_only_names_the_victim_keeps_the_samples_figures(void **state)
{
	struct oom_evidence e;
	struct oom_kill k = { .usage_bytes = BYTES_UNKNOWN,
			      .limit_bytes = BYTES_UNKNOWN,
			      .victim = { .pid = 9, .name = "hog", .rss_bytes = MIB } };

	(void)state;
	memset(&k.stat, 0xff, sizeof(k.stat));
	sampled(&e, LIMIT);
	oom_evidence_set_kill(&e, &k);
	assert_int_equal(e.victim.pid, 9);
	assert_int_equal(oom_verdict_find(&e), OOM_WHY_PRIVATE_MEMORY);
	assert_int_equal(oom_evidence_gap_bytes(&e), 0);
}

static void confidence_is_low_if_the_sample_is_far_from_the_limit(void **state)
{
	struct strbuf why = STRBUF_INIT;
	struct oom_evidence e;

	(void)state;
	sampled(&e, LIMIT);
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_HIGH);
	sampled(&e, 2 * MIB);
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_LOW);
	assert_non_null(strstr(why.text, "not all of the limit"));
	e.end = OOM_END_GONE;
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_LOW);
	e.is_kernel_excluded = true;
	assert_int_equal(oom_evidence_confidence(&e, &why), OOM_HIGH);
	strbuf_release(&why);
}

static void the_largest_known_part_of_kernel_memory_is_named(void **state)
{
	struct strbuf why = STRBUF_INIT, advice = STRBUF_INIT;
	struct oom_evidence e;

	(void)state;
	sampled(&e, 30 * MIB);
	e.at.kernel_bytes = 2 * MIB;
	e.at.sock_bytes = 30 * MIB;
	e.at.other_kernel_bytes = MIB;
	assert_true(oom_verdict_holds(OOM_WHY_KERNEL_MEMORY, &e, &why));
	assert_non_null(strstr(why.text, "network buffers (30.0M)"));
	oom_verdict_add_advice(OOM_WHY_KERNEL_MEMORY, &e, &advice);
	assert_non_null(strstr(advice.text, "ss -m"));
	strbuf_clear(&why);
	e.at.kernel_bytes = 30 * MIB; /* cgroup version 1 */
	e.at.sock_bytes = 0;
	e.at.other_kernel_bytes = BYTES_UNKNOWN;
	assert_true(oom_verdict_holds(OOM_WHY_KERNEL_MEMORY, &e, &why));
	assert_non_null(strstr(why.text, "version 1"));
	strbuf_clear(&why);
	/* the report's task table has the page tables */
	e.at.pagetables_bytes = 24 * MIB;
	assert_true(oom_verdict_holds(OOM_WHY_KERNEL_MEMORY, &e, &why));
	assert_non_null(strstr(why.text, "page tables (24.0M)"));
	strbuf_release(&why);
	strbuf_release(&advice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_known_part_of_kernel_memory_is_named),
		cmocka_unit_test(the_victims_memory_is_not_its_groups_memory),
		cmocka_unit_test(a_report_alone_is_evidence),
		cmocka_unit_test(shared_memory_counts_once),
		cmocka_unit_test(
			a_report_has_the_state_at_the_kill_and_a_sample_the_state_before),
		cmocka_unit_test(
			a_line_that_only_names_the_victim_keeps_the_samples_figures),
		cmocka_unit_test(confidence_is_low_if_the_sample_is_far_from_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
