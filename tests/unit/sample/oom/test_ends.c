/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up recordings in which the process that ended, and why, is known. */
#include "config.h"

#include "sample/oom/ends.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "classify/oom/verdict.h"
#include "proc/kmsg/oom.h"
#include "../../support/recordings.h"
#include "../../support/unit.h"

#define LIMIT_KB UINT64_C(65536)

/* The kernel's counters for the group. */
struct counts {
	uint64_t kill, max;
	size_t group_count;
	bool is_cut;
};

static struct recording *recording;
static struct oom_kill_list no_log;
static struct oom_ends ends;

static void add_usage(int pid, uint64_t rss_kb)
{
	struct usage u;

	recordings_make_usage(&u, pid, rss_kb);
	snprintf(u.process.comm, sizeof(u.process.comm), "p%d", pid);
	u.total.bytes[SMAPS_ANONYMOUS] = u.total.bytes[SMAPS_PRIVATE_DIRTY] = rss_kb * KB;
	assert_int_equal(recording_add_usage(recording, &u), 0);
	usage_release(&u);
}

/*
 * Record processes with pids from 1 on and this much Rss each, in kB; 0:
 * the process does not exist.
 */
static void sample(uint64_t ms, const struct counts *counts, const uint64_t rss_kb[2])
{
	struct cgroup_level levels[2] = {
		{ .path = (char *)"/g",
		  .limit_bytes = LIMIT_KB * KB,
		  .oom_kill_count = counts->kill,
		  .max_count = counts->max },
		{ .path = (char *)"/", .limit_bytes = CGROUP_NO_LIMIT },
	};
	struct cgroup cgroup;

	cgroup_init(&cgroup);
	cgroup.version = CGROUP_V2;
	cgroup.levels = levels;
	cgroup.level_count = 2;
	cgroup.tightest = 0;
	cgroup.is_cut = counts->is_cut;
	cgroup.group_count = counts->group_count ? counts->group_count : 1;
	cgroup.slack_bytes = MIB;
	memset(&cgroup.stat, 0, sizeof(cgroup.stat));
	cgroup.stat.anon_bytes = (rss_kb[0] + rss_kb[1]) * KB;
	levels[0].usage_bytes = cgroup.stat.anon_bytes;
	cgroup.limit_stat = cgroup.stat;
	recordings_begin(recording);
	for (int i = 0; i < 2; i++)
		if (rss_kb[i] > 0)
			add_usage(i + 1, rss_kb[i]);
	assert_int_equal(recording_add_cgroup(recording, &cgroup), 0);
	recordings_end(recording, ms);
}

static void add_event(uint64_t ms, const char *kind, int pid, const char *text)
{
	const struct recorded_event event = { ms, kind, text, pid };

	assert_int_equal(recording_add_event(recording, &event), 0);
}

static int read_ends(const struct oom_kill_list *log, const struct targets *targets)
{
	static const struct targets all;
	struct replay *replay;
	int r;

	recording_close(recording);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	r = oom_ends_read(replay, log, targets ? targets : &all, &ends);
	replay_close(replay);
	return r;
}

static void forget(void)
{
	oom_ends_release(&ends);
}

static const struct counts none = { 0 }, met = { .max = 5 },
			   one = { .kill = 1, .max = 5 }, two = { .kill = 2, .max = 9 };

static void a_rising_count_is_a_kill_of_the_largest_missing_process(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 40000 });
	sample(1100, &met, (uint64_t[]){ 1000, 64000 });
	sample(1200, &one, (uint64_t[]){ 1000, 0 });
	sample(1300, &one, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].end, OOM_END_KILLED);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_int_equal(ends.items[0].victim.rss_bytes, 64000 * KB);
	assert_int_equal(ends.items[0].last_unix_ms, 1100);
	assert_int_equal(ends.items[0].unix_ms, 1200);
	assert_int_equal(ends.items[0].age_ns, 100 * NS_PER_MS);
	assert_string_equal(ends.items[0].limit_path, "/g");
	assert_string_equal(ends.items[0].victim_path, "/g");
	assert_false(ends.items[0].is_limit_above);
	forget();
}

static void a_sample_of_a_dying_victim_is_not_the_last_before_the_kill(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 64000 });
	sample(1100, &one, (uint64_t[]){ 1000, 30000 });
	sample(1200, &one, (uint64_t[]){ 1000, 2000 });
	sample(1300, &one, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_int_equal(ends.items[0].victim.rss_bytes, 64000 * KB);
	assert_int_equal(ends.items[0].last_unix_ms, 1000);
	forget();
}

static void a_kill_between_reading_a_group_and_its_processes_is_found(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 60000 });
	sample(1100, &none, (uint64_t[]){ 64000, 0 });
	sample(1200, &one, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_int_equal(ends.items[0].last_unix_ms, 1100);
	forget();
}

static void a_kill_below_the_limit_is_due_to_an_ancestors_limit(void **state)
{
	const struct counts killed = { .kill = 1 };

	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 20000 });
	sample(1100, &killed, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_true(ends.items[0].is_limit_above);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_ANCESTOR);
	forget();
}

#define KILLED(pid, group)                                                                              \
	"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=" group \
	",task_memcg=" group ",task=p" #pid ",pid=" #pid ",uid=0\n"                                     \
	"Memory cgroup out of memory: Killed process " #pid " (p" #pid                                  \
	") total-vm:1kB, "                                                                              \
	"anon-rss:2kB, file-rss:3kB, shmem-rss:4kB, UID:0 pgtables:168kB oom_score_adj:0\n"

static void each_of_two_kills_has_its_own_report(void **state)
{
	static const char text[] = KILLED(2, "/other") KILLED(77, "/other")
		KILLED(2, "/g") KILLED(1, "/g");
	struct oom_kill_list log = OOM_KILL_LIST_INIT;

	(void)state;
	kmsg_oom_parse(text, strlen(text), &log);
	/*
	 * Same pid and name, but in another group; the reports before
	 * it are from another time.
	 */
	memmove(&log.items[0], &log.items[1], 3 * sizeof(log.items[0]));
	log.count = 3;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 20000, 40000 });
	sample(1100, &one, (uint64_t[]){ 60000, 9000 });
	sample(1200, &two, (uint64_t[]){ 100, 100 });
	sample(1300, &two, (uint64_t[]){ 0, 100 });
	sample(1400, &two, (uint64_t[]){ 0, 0 });
	assert_int_equal(read_ends(&log, NULL), 0);
	assert_int_equal(ends.count, 2);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_int_equal(ends.items[0].last_unix_ms, 1000);
	assert_non_null(ends.items[0].kill);
	assert_int_equal(ends.items[1].victim.pid, 1);
	assert_int_equal(ends.items[1].last_unix_ms, 1100);
	assert_non_null(ends.items[1].kill);
	forget();
	oom_kill_list_release(&log);
}

static void events_contain_reports_and_marks_contain_times(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 64000 });
	add_event(1010, "victim", 2, "p2: Rss 64.0M");
	sample(1100, &one, (uint64_t[]){ 1000, 0 });
	add_event(1150, "oom_kill", 2, KILLED(2, "/g"));
	add_event(1150, "oom_kill", 2, KILLED(2, "/g"));
	add_event(1151, "gap", 0, NULL);
	sample(1200, &one, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_non_null(ends.items[0].kill);
	assert_int_equal(ends.items[0].unix_ms, 1010);
	assert_int_equal(ends.items[0].age_ns, 10 * NS_PER_MS);
	forget();
}

/*
 * The counters do not help: the group is gone before they can be read, or
 * they belong to another kill.
 */
static void samples_after_the_kill_are_ignored(void **state)
{
	static const char *const kinds[] = { "victim", "oom_kill" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		recordings_open(&recording);
		sample(1000, &none, (uint64_t[]){ 1000, 40000 });
		sample(2000, &none, (uint64_t[]){ 1000, 60000 });
		add_event(2010, kinds[i], 2, KILLED(2, "/g"));
		/* the victim is dying, and another process grows meanwhile */
		sample(2100, &none, (uint64_t[]){ 64000, 500 });
		sample(2200, &none, (uint64_t[]){ 64000, 100 });
		sample(2300, &none, (uint64_t[]){ 64000, 0 });
		assert_int_equal(read_ends(&no_log, NULL), 0);
		assert_int_equal(ends.count, 1);
		assert_int_equal(ends.items[0].victim.pid, 2);
		assert_int_equal(ends.items[0].last_unix_ms, 2000);
		/* a report has the victim's memory, and this report is made up */
		if (!ends.items[0].kill)
			assert_int_equal(ends.items[0].victim.rss_bytes, 60000 * KB);
		assert_int_equal(ends.items[0].last.need_bytes, 61000 * KB);
		assert_int_equal(ends.items[0].grower.pid, 2);
		forget();
	}
}

/* Pss is half of Rss here: the other half belongs to other processes. */
static void shared_memory_counts_once(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 40000 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.past.samples[0].private_bytes, 20500 * KB);
	forget();
}

/* The victim was sampled after the kernel had chosen it, but before it lost memory. */
static void a_sample_of_the_chosen_victim_before_it_loses_memory_counts(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 40000 });
	add_event(1030, "victim", 2, NULL);
	sample(1032, &none, (uint64_t[]){ 1000, 64000 });
	sample(1040, &none, (uint64_t[]){ 1000, 500 });
	sample(1100, &none, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].last_unix_ms, 1032);
	forget();
}

static void a_late_log_line_does_not_change_the_age_of_a_sample(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 64000 });
	sample(1020, &one, (uint64_t[]){ 1000, 0 });
	add_event(1150, "oom_kill", 2, KILLED(2, "/g"));
	sample(1200, &one, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].unix_ms, 1020);
	assert_int_equal(ends.items[0].age_ns, 20 * NS_PER_MS);
	forget();
}

static void a_mark_without_a_report_is_a_kill(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 64000 });
	add_event(1010, "victim", 2, NULL);
	add_event(1010, "oom_kill", 0, "no report at all");
	sample(1100, &none, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].end, OOM_END_KILLED);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_null(ends.items[0].kill);
	forget();
}

static void a_process_that_ends_without_a_count_was_not_oom_killed(void **state)
{
	const struct counts many = { .group_count = 3 },
			    many_met = { .group_count = 3, .max = 4 };

	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 40000 });
	sample(1100, &none, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.items[0].end, OOM_END_GONE);
	assert_int_equal(ends.items[0].victim.pid, 2);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_NOT_KERNEL);
	forget();
	/*
	 * With groups below whose counters are unknown, the limit
	 * must not have been reached.
	 */
	remove(recordings_path);
	recordings_open(&recording);
	sample(1000, &many, (uint64_t[]){ 1000, 40000 });
	sample(1100, &many_met, (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.items[0].end, OOM_END_GONE);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_UNKNOWN);
	forget();
}

static void if_the_largest_process_survives_none_has_ended(void **state)
{
	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 10000 });
	sample(1100, &none, (uint64_t[]){ 0, 10000 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].end, OOM_END_NONE);
	assert_int_equal(ends.items[0].victim.pid, 0);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_NOBODY);
	forget();
}

static void with_targets_only_their_ends_are_reported(void **state)
{
	struct target_pid small = { .pid = 1 }, nobody = { .pid = 9 };
	const struct targets targets = { .pids = &small, .pid_count = 1 };
	const struct targets no_targets = { .pids = &nobody, .pid_count = 1 };

	(void)state;
	recordings_open(&recording);
	sample(1000, &none, (uint64_t[]){ 1000, 64000 });
	sample(1100, &one, (uint64_t[]){ 1000, 0 });
	sample(1200, &one, (uint64_t[]){ 0, 0 });
	assert_int_equal(read_ends(&no_log, &targets), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.items[0].end, OOM_END_GONE);
	assert_int_equal(ends.items[0].victim.pid, 1);
	forget();
	recording = NULL;
	assert_int_equal(read_ends(&no_log, &no_targets), -ESRCH);
}

static void without_a_group_the_log_explains_a_kill(void **state)
{
	static const char text[] = KILLED(2, "/g");
	struct oom_kill_list log = OOM_KILL_LIST_INIT;

	(void)state;
	kmsg_oom_parse(text, strlen(text), &log);
	recordings_open(&recording);
	for (uint64_t i = 0; i < 60; i++) {
		recordings_begin(recording);
		add_usage(2, 1000 + 1000 * i);
		recordings_end(recording, 1000 + 1000 * i);
	}
	recordings_begin(recording);
	recordings_end(recording, 61000);
	assert_int_equal(read_ends(&log, NULL), 0);
	assert_int_equal(ends.count, 1);
	assert_non_null(ends.items[0].kill);
	assert_int_equal(ends.items[0].growth.kind, GROWTH_STEADY);
	assert_int_equal(ends.items[0].grower.pid, 2);
	assert_int_equal(ends.items[0].grower.to_bytes - ends.items[0].grower.from_bytes,
			 59000 * KB);
	forget();
	oom_kill_list_release(&log);
}

/* Memory use is flat for long and then fills up suddenly, or it rises all the time. */
static void record_need(bool is_leak, uint64_t ms)
{
	recordings_open(&recording);
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t kb = is_leak  ? 4000 + 1000 * i
			      : i < 58 ? 4000
				       : 4000 + 30000 * (i - 57);

		sample(1000 + ms * i, &met, (uint64_t[]){ 0, kb });
	}
	sample(1000 + ms * 60, &(struct counts){ .kill = 1, .max = 6 },
	       (uint64_t[]){ 1000, 0 });
	assert_int_equal(read_ends(&no_log, NULL), 0);
	assert_int_equal(ends.count, 1);
}

static void a_leak_and_a_burst_are_distinguished(void **state)
{
	(void)state;
	record_need(true, 500);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_LEAK);
	forget();
	remove(recordings_path);
	record_need(false, 500);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_BURST);
	assert_int_equal(ends.items[0].typical_bytes, 4000 * KB);
	forget();
	/* all growth within a second is a burst, however even */
	remove(recordings_path);
	record_need(true, 10);
	assert_int_equal(oom_verdict_find(&ends.items[0]), OOM_WHY_BURST);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, recordings_set_up, recordings_tear_down)
		TEST(a_rising_count_is_a_kill_of_the_largest_missing_process),
		TEST(a_sample_of_a_dying_victim_is_not_the_last_before_the_kill),
		TEST(a_kill_between_reading_a_group_and_its_processes_is_found),
		TEST(a_kill_below_the_limit_is_due_to_an_ancestors_limit),
		TEST(each_of_two_kills_has_its_own_report),
		TEST(events_contain_reports_and_marks_contain_times),
		TEST(shared_memory_counts_once),
		TEST(samples_after_the_kill_are_ignored),
		TEST(a_sample_of_the_chosen_victim_before_it_loses_memory_counts),
		TEST(a_late_log_line_does_not_change_the_age_of_a_sample),
		TEST(a_mark_without_a_report_is_a_kill),
		TEST(a_process_that_ends_without_a_count_was_not_oom_killed),
		TEST(if_the_largest_process_survives_none_has_ended),
		TEST(with_targets_only_their_ends_are_reported),
		TEST(without_a_group_the_log_explains_a_kill),
		TEST(a_leak_and_a_burst_are_distinguished),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
