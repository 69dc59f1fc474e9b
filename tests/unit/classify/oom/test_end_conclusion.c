/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/end_conclusion.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "../../support/unit.h"

#define TIME_MS UINT64_C(1795420800000) /* 2026-11-23T08:00:00.000Z */

enum fact_source {
	LOG = 1,
	RECORDING = 2
};

struct end_case {
	enum oom_end end;
	enum fact_source sources;
	enum oom_constraint constraint;
	uint64_t unix_ms;
	const char *limit_path, *pod;
	bool is_sysrq, is_excluded, has_victim;
	const char *text, *next;
};

static const struct end_case cases[] = {
	{ OOM_END_KILLED, LOG, OOM_CGROUP, TIME_MS, "/x", "", false, false, true,
	  "The kernel killed server (4242) at 2026-11-23T08:00:00.000Z: cgroup /x reached "
	  "its limit of 64.0M. The private memory of one process used up the limit.",
	  "" },
	{ OOM_END_KILLED, LOG | RECORDING, OOM_CGROUP, TIME_MS, "/x", "web-0", false,
	  false, true,
	  "The kernel killed server (4242) of pod shop/web-0 at 2026-11-23T08:00:00.000Z: "
	  "cgroup /x reached its limit of 64.0M. The private memory of one process used up "
	  "the limit.",
	  "memstate oom --replay 'a b.msr' --at 2026-11-23T08:00:00.000Z" },
	{ OOM_END_KILLED, RECORDING, OOM_CGROUP, TIME_MS, "/x", "", false, false, true,
	  "The kernel killed server (4242) no later than 2026-11-23T08:00:00.000Z; cgroup "
	  "/x has a limit of 64.0M. The private memory of one process used up the limit.",
	  "memstate oom --replay 'a b.msr' --at 2026-11-23T08:00:00.000Z" },
	{ OOM_END_KILLED, LOG, OOM_CGROUP, 0, "", "", false, false, false,
	  "The kernel killed a process at Dec 11 10:48:09: its cgroup reached its limit of "
	  "64.0M. The private memory of one process used up the limit.",
	  "" },
	{ OOM_END_KILLED, LOG, OOM_GLOBAL, 0, "", "", false, false, true,
	  "The kernel killed server (4242) at Dec 11 10:48:09: the machine ran out of "
	  "memory. The machine has no swap.",
	  "" },
	{ OOM_END_KILLED, LOG, OOM_NODES, 0, "", "", false, false, true,
	  "The kernel killed server (4242) at Dec 11 10:48:09: the memory nodes that it may "
	  "use ran out of memory.",
	  "" },
	{ OOM_END_KILLED, LOG, OOM_GLOBAL, 0, "", "", true, false, true,
	  "The kernel killed server (4242) at Dec 11 10:48:09 because SysRq f requested it. "
	  "Memory may not have run out.",
	  "" },
	{ OOM_END_GONE, RECORDING, OOM_UNKNOWN, TIME_MS, "/x", "", false, true, true,
	  "server (4242) ended no later than 2026-11-23T08:00:00.000Z. The kernel did not "
	  "kill it: it exited, or another program ended it.",
	  "memstate oom --replay 'a b.msr' --at 2026-11-23T08:00:00.000Z" },
	{ OOM_END_GONE, RECORDING, OOM_UNKNOWN, TIME_MS, "/x", "", false, false, true,
	  "server (4242) ended no later than 2026-11-23T08:00:00.000Z. The recording does "
	  "not show whether the kernel killed it.",
	  "memstate oom --replay 'a b.msr' --at 2026-11-23T08:00:00.000Z" },
	{ OOM_END_NONE, RECORDING, OOM_UNKNOWN, TIME_MS, "/x", "", false, false, false,
	  "No process of cgroup /x was killed during the recording; it needed 62.0M of its "
	  "limit of 64.0M at the end. Nothing suggests that one is about to be killed.",
	  "memstate oom predict --replay 'a b.msr'" },
};

static void make(const struct end_case *c, struct oom_kill *kill, struct oom_evidence *e)
{
	memset(kill, 0, sizeof(*kill));
	kill->is_sysrq = c->is_sysrq;
	kill->order = COUNT_UNKNOWN;
	kill->time.boot_us = COUNT_UNKNOWN;
	strcpy(kill->time.text, "Dec 11 10:48:09");
	kill->machine.swap_free_bytes = BYTES_UNKNOWN;
	oom_evidence_init(e);
	e->end = c->end;
	e->kill = c->sources & LOG ? kill : NULL;
	e->has_sample = c->sources & RECORDING;
	e->constraint = c->constraint;
	e->unix_ms = c->unix_ms;
	e->is_kernel_excluded = c->is_excluded;
	text_copy(e->limit_path, sizeof(e->limit_path), c->limit_path);
	text_copy(e->victim_place.pod, sizeof(e->victim_place.pod), c->pod);
	text_copy(e->victim_place.namespace_, sizeof(e->victim_place.namespace_), "shop");
	e->at.limit_bytes = 64 * MIB;
	e->at.usage_bytes = e->at.need_bytes = 64 * MIB;
	e->at.live_anon_bytes = 62 * MIB;
	if (e->has_sample) {
		e->last = e->at;
		e->last.need_bytes = 62 * MIB;
		e->last_unix_ms = TIME_MS;
	}
	if (c->has_victim) {
		e->victim.pid = 4242;
		strcpy(e->victim.name, "server");
	}
}

static void each_end_has_its_sentences_and_its_command(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
		struct oom_evidence e;
		struct oom_kill kill;

		make(&cases[i], &kill, &e);
		oom_conclude_end(&c, &e, false);
		oom_conclude_end_next(&c, &e, e.has_sample ? "a b.msr" : NULL);
		assert_string_equal(strbuf_text(&c.text), cases[i].text);
		assert_string_equal(strbuf_text(&c.next), cases[i].next);
	}
}

/* A process chooses its name, which must not move the cursor or hide text. */
static void names_are_printable(void **state)
{
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;
	struct oom_evidence e;
	struct oom_kill kill;

	(void)state;
	make(&cases[0], &kill, &e);
	strcpy(e.victim.name, "a\033[2J\n");
	strcpy(e.limit_path, "/b\033");
	oom_conclude_end(&c, &e, true);
	assert_non_null(strstr(c.text.text, "killed a\\x1b[2J\\x0a (4242) at"));
	assert_non_null(strstr(c.text.text, "cgroup /b\\x1b reached"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_has_its_sentences_and_its_command),
		cmocka_unit_test(names_are_printable),
	};

	return cmocka_run_group_tests_name("oom_end_conclusion", tests, NULL, NULL);
}
