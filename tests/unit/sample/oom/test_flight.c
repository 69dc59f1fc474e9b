/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flight recorder's view of kills: reports that arrive in pieces, and one kill
 * that several sources report.
 */
#include "config.h"

#include <string.h>

#include "base/units.h"
#include "sample/oom/flight_kills.h"
#include "sample/oom/flight_log.h"
#include "sample/oom/flight_private.h"
#include "../../support/unit.h"

#define MS NS_PER_MS

static const char other[] = "6,100,5000,-;eth0: link up\n";
static const char head[] =
	"4,101,6000,-;hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, "
	"oom_score_adj=0\n";
static const char cause[] =
	"6,102,6001,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"
	"mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=hog,pid=77,uid=0\n";
static const char killed[] =
	"3,103,6002,-;Memory cgroup out of memory: Killed process 77 (hog) "
	"total-vm:70000kB, anon-rss:65000kB, file-rss:1000kB, shmem-rss:0kB, UID:0 "
	"pgtables:168kB oom_score_adj:0\n";

static void add(struct flight_log *log, const char *text, uint64_t now_ns)
{
	struct strbuf records = STRBUF_INIT;

	strbuf_add_text(&records, text);
	flight_log_add(log, &records, now_ns);
	assert_int_equal(records.length, 0);
	strbuf_release(&records);
}

static void a_report_that_arrives_in_parts_is_parsed_once(void **state)
{
	struct flight_log log = { 0 };
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	const char *text;

	(void)state;
	add(&log, other, 1 * MS);
	assert_true(flight_log_due_ns(&log) == UINT64_MAX);
	add(&log, head, 10 * MS);
	assert_false(flight_log_next(&log, 11 * MS, &kills, &text));
	add(&log, cause, 100 * MS);
	add(&log, killed, 150 * MS);
	assert_false(flight_log_next(&log, 200 * MS, &kills, &text));
	assert_true(flight_log_next(&log, flight_log_due_ns(&log), &kills, &text));
	assert_int_equal(kills.count, 1);
	assert_int_equal(kills.items[0].victim.pid, 77);
	assert_string_equal(kills.items[0].victim_path, "/a/b");
	assert_int_equal(strlen(text), strlen(head) + strlen(cause) + strlen(killed));
	assert_false(flight_log_next(&log, 900 * MS, &kills, &text));
	oom_kill_list_release(&kills);
	flight_log_release(&log);
}

static void lines_before_a_report_and_the_next_report_are_separate(void **state)
{
	struct flight_log log = { 0 };
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	struct strbuf both = STRBUF_INIT;
	const char *text;

	(void)state;
	strbuf_addf(&both, "%s%s", other, killed);
	add(&log, both.text, 1 * MS);
	assert_true(flight_log_next(&log, 999 * MS, &kills, &text));
	assert_string_equal(text, killed);
	add(&log, killed, 1000 * MS);
	assert_true(flight_log_next(&log, 2000 * MS, &kills, &text));
	assert_string_equal(text, killed);
	oom_kill_list_release(&kills);
	strbuf_release(&both);
	flight_log_release(&log);
}

/* Two groups reach their limits at the same time: each recording gets its own report. */
static void each_report_of_a_batch_keeps_its_own_lines(void **state)
{
	static const char second[] =
		"4,105,6500,-;web invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, "
		"oom_score_adj=0\n"
		"6,106,6501,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"
		"mems_allowed=0,oom_memcg=/c,task_memcg=/c,task=web,pid=88,uid=0\n"
		"3,107,6502,-;Memory cgroup out of memory: Killed process 88 (web) "
		"total-vm:70000kB, anon-rss:65000kB, file-rss:1000kB, shmem-rss:0kB, UID:0 "
		"pgtables:168kB oom_score_adj:0\n";
	struct flight_log log = { 0 };
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	struct strbuf both = STRBUF_INIT, first = STRBUF_INIT, report = STRBUF_INIT;
	const char *text;

	(void)state;
	strbuf_addf(&first, "%s%s%s", head, cause, killed);
	strbuf_addf(&both, "%s%s%s", other, first.text, second);
	add(&log, both.text, 1 * MS);
	assert_true(flight_log_next(&log, 999 * MS, &kills, &text));
	assert_int_equal(kills.count, 2);
	assert_string_equal(flight_log_report(text, &kills.items[0], &report),
			    first.text);
	assert_string_equal(flight_log_report(text, &kills.items[1], &report), second);
	oom_kill_list_release(&kills);
	strbuf_release(&both);
	strbuf_release(&first);
	strbuf_release(&report);
	flight_log_release(&log);
}

static void only_the_kernels_own_kill_lines_are_counted(void **state)
{
	static const char others[] =
		"6,1,1,-;Killed process [77]: segfault at 0 ip 0 sp 0 error 4\n"
		"6,2,2,-;hog[7]: segfault at 0 ip 0 sp 0 error 4 in Killed process 9 (a)[1+2]\n"
		"12,3,3,-;test: Killed process 77 (hog) total-vm:1kB\n"
		"6,4,4,-;x\n SUBSYSTEM=Killed process 77 (hog) total-vm:1kB\n";
	struct strbuf records = STRBUF_INIT;

	(void)state;
	strbuf_addf(&records, "%s%s%s%s%s", others, head, cause, killed, killed);
	assert_int_equal(flight_log_count_kills(&records), 2);
	strbuf_clear(&records);
	assert_int_equal(flight_log_count_kills(&records), 0);
	strbuf_release(&records);
}

static void a_kill_is_found_again_but_not_a_later_one_of_that_pid(void **state)
{
	struct flight_kills kills = { .count = 0 };

	(void)state;
	assert_null(flight_kills_find(&kills, 7, 5000));
	flight_kills_add(&kills, 7, 5000, NULL);
	assert_non_null(flight_kills_find(&kills, 7, 5200));
	assert_null(flight_kills_find(&kills, 8, 5200));
	assert_null(flight_kills_find(&kills, 7, 60000));
	assert_true(flight_kills_any_since(&kills, 6000));
	assert_false(flight_kills_any_since(&kills, 60000));
	for (int i = 0; i < 2 * FLIGHT_KILLS_MAX; i++)
		flight_kills_add(&kills, 100 + i, 70000, NULL);
	assert_int_equal(kills.count, 1 + 2 * FLIGHT_KILLS_MAX);
	assert_null(flight_kills_find(&kills, 100, 70000));
	assert_non_null(flight_kills_find(&kills, 99 + 2 * FLIGHT_KILLS_MAX, 70000));
}

/*
 * If there are more than ten kills in five seconds, this line is all that the
 * kernel logs for the others.
 */
static void a_kill_logged_without_its_group_is_ours_if_already_known(void **state)
{
	struct cgroup_level level = { .path = (char[]){ "/a" } };
	struct cgroup group = { .levels = &level, .level_count = 1, .tightest = 0 };
	struct flight_kills kills = { .count = 0 };
	struct flight_log log = { 0 };
	struct oom_kill_list logged = OOM_KILL_LIST_INIT;
	const char *text;

	(void)state;
	add(&log, killed, 1 * MS);
	assert_true(flight_log_next(&log, 999 * MS, &logged, &text));
	assert_int_equal(logged.count, 1);
	assert_false(flight_kills_has_logged(&kills, &logged.items[0], &group, 5000));
	flight_kills_add(&kills, 77, 5000, NULL);
	assert_true(flight_kills_has_logged(&kills, &logged.items[0], &group, 5200));
	assert_false(flight_kills_has_logged(&kills, &logged.items[0], &group, 60000));
	oom_kill_list_release(&logged);
	flight_log_release(&log);
}

static void kills_in_descendant_groups_are_ours_but_not_in_siblings(void **state)
{
	struct cgroup_level level = { .path = (char[]){ "/a" } };
	struct cgroup group = { .levels = &level, .level_count = 1, .tightest = 0 };
	struct flight_kills kills = { .count = 0 };
	struct oom_kill kill = { .victim.pid = 7,
				 .victim_path = "/a/b",
				 .limit_path = "/a" };

	(void)state;
	assert_true(flight_kills_has_logged(&kills, &kill, &group, 1));
	kill = (struct oom_kill){ .victim.pid = 7,
				  .victim_path = "/ab",
				  .limit_path = "/ab" };
	flight_kills_add(&kills, 7, 1, NULL);
	assert_false(flight_kills_has_logged(&kills, &kill, &group, 1));
}

static uint64_t now_ns;
static struct strbuf log_records = STRBUF_INIT;
static struct strbuf recorded_events = STRBUF_INIT;

uint64_t __wrap_clock_now_ns(void);
struct strbuf *__wrap_oom_wakeups_log(struct oom_wakeups *wakeups);
void __wrap_flight_record_event(struct flight *flight,
				const struct recorded_event *event);

uint64_t __wrap_clock_now_ns(void)
{
	return now_ns;
}

struct strbuf *__wrap_oom_wakeups_log(struct oom_wakeups *wakeups)
{
	(void)wakeups;
	return &log_records;
}

void __wrap_flight_record_event(struct flight *flight, const struct recorded_event *event)
{
	(void)flight;
	strbuf_addf(&recorded_events, "%s %d\n%s", event->kind, event->pid,
		    event->text ? event->text : "");
}

/* Let the kernel log these lines at a time, and read the log when it is quiet again. */
static void read_log_at(struct flight *flight, uint64_t ns, const char *lines)
{
	strbuf_clear(&recorded_events);
	strbuf_add_text(&log_records, lines);
	now_ns = ns;
	flight_read_log(flight);
	assert_int_equal(recorded_events.length, 0);
	now_ns = ns + 500 * MS;
	flight_read_log(flight);
}

/*
 * With a slow console, the lines of a report may arrive after the first ones were taken
 * for the whole report.
 */
static void one_report_is_recorded_per_kill(void **state)
{
	char path[] = "/a";
	struct cgroup_level level = { .path = path };
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;

	(void)state;
	strbuf_addf(&report, "%s%s%s", head, cause, killed);
	for (int is_marked = 0; is_marked < 2; is_marked++) {
		struct flight flight = { .cgroup = { .levels = &level,
						     .level_count = 1 } };

		if (is_marked)
			flight_kills_add(&flight.summary.kills, 77,
					 flight_unix_ms(6 * MS), NULL);
		read_log_at(&flight, 10 * MS, report.text);
		assert_true(strncmp(recorded_events.text, "oom_kill 77\n", 12) == 0);
		assert_string_equal(recorded_events.text + 12, report.text);
		assert_int_equal(flight.summary.kills.count, 1);
		assert_true(flight.summary.kills.items[0].is_logged);
		read_log_at(&flight, 1000 * MS, killed);
		assert_int_equal(recorded_events.length, 0);
		assert_int_equal(flight.summary.kills.count, 1);
		flight_log_release(&flight.log);
	}
	strbuf_release(&log_records);
	strbuf_release(&recorded_events);
}

/* The pid lists before and after the exit of process 77. */
static void note_exit_of_77(struct flight_left *left, uint64_t noticed_ns)
{
	int before[] = { 5, 77, 90 }, after[] = { 5, 90, 91 };
	const struct cgroup old = { .pids = before, .pid_count = 3 };
	const struct cgroup new = { .pids = after, .pid_count = 3 };

	flight_left_add(left, &old, &new, noticed_ns);
}

static void a_kill_logged_without_its_group_is_ours_after_the_process_left(void **state)
{
	char path[] = "/a";
	struct cgroup_level level = { .path = path };
	struct flight flight = { .cgroup = { .levels = &level, .level_count = 1 } };

	(void)state;
	read_log_at(&flight, 50 * MS, killed);
	assert_int_equal(recorded_events.length, 0);
	assert_true(flight.counts.pathless_ns > 0);
	note_exit_of_77(&flight.left, 60 * MS);
	read_log_at(&flight, 1000 * MS, killed);
	assert_string_equal(recorded_events.text + strlen("oom_kill 77\n"), killed);
	assert_int_equal(flight.summary.kills.count, 1);
	flight_log_release(&flight.log);
	strbuf_release(&log_records);
	strbuf_release(&recorded_events);
}

static void only_processes_that_left_at_about_that_time_are_remembered(void **state)
{
	static struct flight_left left;
	const uint64_t noticed_ns = 100 * NS_PER_S;

	(void)state;
	note_exit_of_77(&left, noticed_ns);
	assert_int_equal(left.count, 1);
	assert_true(flight_left_has(&left, 77, noticed_ns));
	assert_true(flight_left_has(&left, 77, noticed_ns - 9 * NS_PER_S));
	/* it left the cgroup before it was killed elsewhere */
	assert_false(flight_left_has(&left, 77, noticed_ns + 100 * MS));
	assert_false(flight_left_has(&left, 77, noticed_ns - 11 * NS_PER_S));
	for (int pid = 5; pid < 92; pid++)
		assert_int_equal(flight_left_has(&left, pid, noticed_ns), pid == 77);
	for (int i = 0; i < FLIGHT_LEFT_MAX; i++)
		note_exit_of_77(&left, 200 * NS_PER_S);
	assert_false(flight_left_has(&left, 77, noticed_ns));
	assert_true(flight_left_has(&left, 77, 200 * NS_PER_S));
}

static void a_root_limit_does_not_attribute_other_groups_kills(void **state)
{
	char own[] = "/a/b", root[] = "/";
	struct cgroup_level levels[] = { { .path = own }, { .path = root } };
	const struct cgroup cgroup = { .levels = levels,
				       .level_count = 2,
				       .tightest = 1 };
	struct flight_kills kills = { .count = 0 };
	struct oom_kill kill = { .victim = { .pid = 7 } };

	(void)state;
	strcpy(kill.victim_path, "/a/b/c");
	assert_true(flight_kills_has_logged(&kills, &kill, &cgroup, 5000));
	strcpy(kill.victim_path, "/a/bc");
	assert_false(flight_kills_has_logged(&kills, &kill, &cgroup, 5000));
	strcpy(kill.victim_path, "/other");
	assert_false(flight_kills_has_logged(&kills, &kill, &cgroup, 5000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_report_is_recorded_per_kill),
		cmocka_unit_test(a_root_limit_does_not_attribute_other_groups_kills),
		cmocka_unit_test(each_report_of_a_batch_keeps_its_own_lines),
		cmocka_unit_test(a_report_that_arrives_in_parts_is_parsed_once),
		cmocka_unit_test(lines_before_a_report_and_the_next_report_are_separate),
		cmocka_unit_test(only_the_kernels_own_kill_lines_are_counted),
		cmocka_unit_test(a_kill_is_found_again_but_not_a_later_one_of_that_pid),
		cmocka_unit_test(
			a_kill_logged_without_its_group_is_ours_if_already_known),
		cmocka_unit_test(
			a_kill_logged_without_its_group_is_ours_after_the_process_left),
		cmocka_unit_test(
			only_processes_that_left_at_about_that_time_are_remembered),
		cmocka_unit_test(kills_in_descendant_groups_are_ours_but_not_in_siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
