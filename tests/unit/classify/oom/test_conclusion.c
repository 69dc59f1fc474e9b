/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/conclusion.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

#define RATE (60 * (int64_t)MIB)

static const struct oom_conclusion_options live = { .live_options = "" };
static const struct oom_conclusion_options recorded = { .recording = "it's.msr" };

/* A cgroup with one level, or with two of which the upper one has the limit. */
struct made_cgroup {
	struct cgroup cgroup;
	struct cgroup_level levels[2];
	int pid;
};

static void make_cgroup(struct made_cgroup *m, uint64_t limit_bytes, bool is_above)
{
	memset(m, 0, sizeof(*m));
	cgroup_init(&m->cgroup);
	m->cgroup.version = CGROUP_V2;
	m->levels[0] = (struct cgroup_level){ .path = (char *)"/a b",
					      .limit_bytes = CGROUP_NO_LIMIT };
	m->levels[1] = (struct cgroup_level){ .path = (char *)"/",
					      .limit_bytes = CGROUP_NO_LIMIT };
	m->levels[is_above].limit_bytes = limit_bytes;
	m->cgroup.levels = m->levels;
	m->cgroup.level_count = is_above ? 2 : 1;
	m->cgroup.tightest = limit_bytes == CGROUP_NO_LIMIT ? SIZE_MAX : is_above;
	m->cgroup.pids = &m->pid;
	m->cgroup.pid_count = 1;
}

static struct growth growth_of(enum growth_kind kind)
{
	return (struct growth){ .kind = kind,
				.floor_count = 10,
				.window_ns = NS_PER_S,
				.rate_bytes = RATE,
				.rate_low_bytes = RATE / 2,
				.rate_high_bytes = 2 * RATE,
				.top_bytes = 40 * (double)MIB,
				.top_low_bytes = 40 * (double)MIB,
				.top_high_bytes = 40 * (double)MIB };
}

static void the_usage_and_the_headroom_of_a_cgroup_are_concluded(void **state)
{
	static const struct {
		uint64_t limit, usage, need;
		bool is_above, is_recorded, grows;
		const char *text, *next;
	} cases[] = {
		{ 512 * MIB, 332 * MIB, 63 * MIB, false, false, false,
		  "cgroup /a b uses 332.0M of its limit of 512.0M; 63.0M (19%) "
		  "cannot be reclaimed. Need can grow by 449.0M before the "
		  "kernel kills a process.",
		  "memstate oom predict --cgroup '/a b'" },
		{ CGROUP_NO_LIMIT, 1024 * MIB, 1023 * MIB, false, false, false,
		  "cgroup /a b uses 1.0G (no limit); 1023.0M (99%) cannot be reclaimed.",
		  "memstate oom predict --cgroup '/a b'" },
		{ CGROUP_NO_LIMIT, 332 * MIB, 63 * MIB, false, false, false,
		  "cgroup /a b uses 332.0M (no limit); 63.0M (19%) cannot be reclaimed.",
		  "memstate oom predict --cgroup '/a b'" },
		{ 64 * MIB, 63 * MIB, 60 * MIB, false, false, false,
		  "cgroup /a b uses 63.0M of its limit of 64.0M; 60.0M (95%) "
		  "cannot be reclaimed. Need can grow by only 4.0M before the "
		  "kernel kills a process.",
		  "memstate oom watch --cgroup '/a b' --record oom.msr" },
		{ 64 * MIB, 32 * MIB, 16 * MIB, true, false, false,
		  "cgroup /, which contains /a b, uses 32.0M of its limit of "
		  "64.0M; 16.0M (50%) cannot be reclaimed. Need can grow by "
		  "48.0M before the kernel kills a process.",
		  "memstate oom predict --cgroup '/a b'" },
		{ 64 * MIB, 32 * MIB, 16 * MIB, false, true, true,
		  "cgroup /a b uses 32.0M of its limit of 64.0M; 16.0M (50%) cannot be "
		  "reclaimed. Need grows by 1.0M/min and reaches the limit in 24m00s "
		  "(12m00s to 48m00s).",
		  "memstate oom explain --record 'it'\\''s.msr'" },
		{ 40 * MIB, 40 * MIB, 40 * MIB, false, true, true,
		  "cgroup /a b uses 40.0M of its limit of 40.0M; 40.0M (100%) cannot be "
		  "reclaimed. Need grows by 1.0M/min and is at the limit now.",
		  "memstate oom explain --record 'it'\\''s.msr'" },
		{ 64 * MIB, BYTES_UNKNOWN, BYTES_UNKNOWN, false, true, false,
		  "cgroup /a b: its usage cannot be read.",
		  "memstate oom explain --record 'it'\\''s.msr'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		const struct trend need = { .growth = growth_of(GROWTH_STEADY) };
		struct oom_figures f = { .usage_bytes = cases[i].usage,
					 .limit_bytes = cases[i].limit,
					 .need_bytes = cases[i].need,
					 .headroom_bytes = BYTES_UNKNOWN };
		struct made_cgroup m;

		make_cgroup(&m, cases[i].limit, cases[i].is_above);
		if (cases[i].limit != CGROUP_NO_LIMIT)
			f.headroom_bytes = bytes_sub(f.limit_bytes, f.need_bytes);
		oom_conclude_group(&c, &m.cgroup, &f, cases[i].grows ? &need : NULL,
				   cases[i].is_recorded ? &recorded : &live);
		assert_string_equal(strbuf_text(&c.text), cases[i].text);
		assert_string_equal(strbuf_text(&c.next), cases[i].next);
	}
}

static void the_growth_of_a_cgroup_is_concluded(void **state)
{
	static const struct {
		enum growth_kind kind;
		const char *text, *next;
	} cases[] = {
		{ GROWTH_TOO_SHORT, "; it is too soon to tell whether it grows.",
		  "memstate oom predict --cgroup '/a b' -n 60" },
		{ GROWTH_BRIEF, "; it is too soon to tell whether it grows.",
		  "memstate oom predict --cgroup '/a b' -n 60" },
		{ GROWTH_NONE, " and does not grow.", "" },
		{ GROWTH_FALLING, " and falls by 1.0M/min.", "" },
		{ GROWTH_SLOW, " and grows slowly, by 1.0M/min.", "" },
		{ GROWTH_STEP, "; its rise was mostly one jump.", "" },
		{ GROWTH_PLATEAU, "; it has almost stopped growing.", "" },
		{ GROWTH_STEADY,
		  " and grows by 1.0M/min. It reaches the limit in 24m00s (12m00s to "
		  "48m00s).",
		  "memstate leaks -p 7" },
	};
	const char *start = "cgroup /a b needs 40.0M of its limit of 64.0M";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		const struct trend need = { .growth = growth_of(cases[i].kind),
					    .bytes = 40 * MIB };
		const struct process_trend process = { .process = { .pid = 7 },
						       .need = need };
		struct made_cgroup m;
		const struct oom_growth_facts facts = { .cgroup = &m.cgroup,
							.need = &need,
							.processes = &process,
							.process_count = 1,
							.unit = units_find_rate(RATE) };

		make_cgroup(&m, 64 * MIB, false);
		oom_conclude_growth(&c, &facts, &live);
		assert_memory_equal(strbuf_text(&c.text), start, strlen(start));
		assert_string_equal(c.text.text + strlen(start), cases[i].text);
		assert_string_equal(strbuf_text(&c.next), cases[i].next);
		m.cgroup.pid_count = 0;
		strbuf_clear(&c.text);
		strbuf_clear(&c.next);
		oom_conclude_growth(&c, &facts, &live);
		assert_string_equal(strbuf_text(&c.text),
				    "cgroup /a b has no processes; 40.0M are still "
				    "charged to it.");
		assert_string_equal(strbuf_text(&c.next), "");
	}
}

static void the_fastest_growth_of_processes_is_concluded(void **state)
{
	static const struct {
		enum growth_kind kinds[2];
		size_t count;
		const char *text;
	} cases[] = {
		{ { 0 }, 0, "No process was found." },
		{ { GROWTH_STEADY, GROWTH_STEADY },
		  2,
		  "2 of 2 processes grow. server (7) needs 40.0M and grows by 1.0M/min, the "
		  "fastest." },
		{ { GROWTH_STEADY, GROWTH_NONE },
		  2,
		  "1 of 2 processes grows. server (7) needs 40.0M and grows by 1.0M/min." },
		{ { GROWTH_SLOW, GROWTH_NONE },
		  2,
		  "None of the 2 processes is known to grow." },
		{ { GROWTH_SLOW },
		  1,
		  "server (7) needs 40.0M and grows slowly, by 1.0M/min." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct process_trend processes[2] = { 0 };
		const struct oom_growth_facts facts = { .processes = processes,
							.process_count = cases[i].count,
							.unit = units_find_rate(RATE) };

		for (size_t p = 0; p < 2; p++)
			processes[p] = (struct process_trend){
				.process = { .pid = 7, .comm = "server" },
				.need = { .growth = growth_of(cases[i].kinds[p]),
					  .bytes = 40 * MIB },
			};
		oom_conclude_growth(&c, &facts, &recorded);
		assert_string_equal(strbuf_text(&c.text), cases[i].text);
		assert_string_equal(strbuf_text(&c.next), "");
	}
}

static void a_cgroup_that_may_be_gone_gets_no_command(void **state)
{
	const struct oom_conclusion_options nowhere = { .live_options = NULL };
	const struct trend need = { .growth = growth_of(GROWTH_STEADY),
				    .bytes = 40 * MIB };
	const struct process_trend process = { .process = { .pid = 7 }, .need = need };
	const struct oom_figures figures = { .limit_bytes = 64 * MIB,
					     .headroom_bytes = MIB };
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct made_cgroup m;
	const struct oom_growth_facts facts = { .cgroup = &m.cgroup,
						.need = &need,
						.processes = &process,
						.process_count = 1,
						.unit = units_find_rate(RATE) };

	(void)state;
	make_cgroup(&m, 64 * MIB, false);
	oom_conclude_group(&c, &m.cgroup, &figures, NULL, &nowhere);
	oom_conclude_growth(&c, &facts, &nowhere);
	assert_string_equal(strbuf_text(&c.next), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usage_and_the_headroom_of_a_cgroup_are_concluded),
		cmocka_unit_test(the_growth_of_a_cgroup_is_concluded),
		cmocka_unit_test(the_fastest_growth_of_processes_is_concluded),
		cmocka_unit_test(a_cgroup_that_may_be_gone_gets_no_command),
	};

	return cmocka_run_group_tests_name("oom_conclusion", tests, NULL, NULL);
}
