/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line prefixes in every log format, and lines of any length. */
#include "config.h"

#include "proc/kmsg/kmsg.h"
#include "proc/kmsg/oom.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "proc/kmsg/split.h"
#include "proc/kmsg/stamp.h"
#include "../../support/unit.h"

#define KB UINT64_C(1024)

static struct oom_kill_list list;

static void parse(const char *text)
{
	oom_kill_list_release(&list);
	kmsg_oom_parse(text, strlen(text), &list);
}

static void messages_are_shown_without_the_prefixes_of_the_device(void **state)
{
	static const struct {
		const char *records, *messages;
	} rows[] = {
		{ "6,1234,5678901,-;hog invoked oom-killer\n SUBSYSTEM=memory\n"
		  "3,1235,5678902,c;Killed process 7 (a;b)\n",
		  "hog invoked oom-killer\nKilled process 7 (a;b)\n" },
		{ "6,1,2,-,caller=T7;text", "text" },
		{ "6,1,2,-;", "" },
		{ "", "" },
		{ "no; prefix\n kept\n", "no; prefix\n kept\n" },
		{ "6,1,2\n3,4,5,-;text\n", "6,1,2\ntext\n" },
		{ "6,1,2,-\n;text\n", "6,1,2,-\n;text\n" },
		{ "1,2;text\n", "1,2;text\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		proc_kmsg_add_messages(rows[i].records, &out);
		assert_row(strcmp(strbuf_text(&out), rows[i].messages) == 0,
			   rows[i].records);
	}
}

static int end(void **state)
{
	(void)state;
	oom_kill_list_release(&list);
	return 0;
}

static const char one_kill[] =
	"Killed process 7 (a) total-vm:100kB, anon-rss:8kB, file-rss:4kB";

/*
 * The times that each kind of prefix holds. unix_ms 0, boot_us
 * COUNT_UNKNOWN and "" mean unknown.
 */
static const struct {
	const char *before, *after;
	uint64_t unix_ms, boot_us;
	const char *text;
} styles[] = {
	{ "", "", 0, COUNT_UNKNOWN, "" },
	{ "[  152.700479] ", "", 0, 152700479, "" },
	{ "[  152.700479][ T1234] ", "", 0, 152700479, "" },
	{ "<4>[  152.700479] ", "", 0, 152700479, "" },
	{ "kern  :err   : [  152.700479] ", "", 0, 152700479, "" },
	{ "[  152.700479] host kernel: ", "", 0, 152700479, "" },
	{ "[Thu Dec  7 00:05:14 2017] ", "", 0, COUNT_UNKNOWN,
	  "Thu Dec  7 00:05:14 2017" },
	{ "2017-12-07T00:05:14,123456+01:00 ", "", 1512601514123, COUNT_UNKNOWN,
	  "2017-12-07T00:05:14,123456+01:00" },
	{ "6,1234,5678901,-;", "", 0, 5678901, "" },
	{ "Sep 27 11:33:05 domain-abc kernel: ", "", 0, COUNT_UNKNOWN,
	  "Sep 27 11:33:05" },
	{ "Sep  7 11:33:05 host kernel: [40666.25] ", "", 0, 40666250000,
	  "Sep  7 11:33:05" },
	{ "Aug 30 06:58:55.050705 ip-10-0-0-1 kernel: ", "", 0, COUNT_UNKNOWN,
	  "Aug 30 06:58:55.050705" },
	{ "2026-11-22T15:41:01+0000 host kernel: ", "", 1795362061000, COUNT_UNKNOWN,
	  "2026-11-22T15:41:01+0000" },
	{ "Sun 2026-11-22 15:41:01 UTC host kernel: ", "", 1795362061000, COUNT_UNKNOWN,
	  "2026-11-22 15:41:01 UTC" },
	{ "2026-11-22 15:41:01 host kernel: ", "", 0, COUNT_UNKNOWN,
	  "2026-11-22 15:41:01" },
	{ "<4>1 2026-11-22T15:41:01.5Z host kernel - - - [   77.5] ", "", 1795362061500,
	  77500000, "2026-11-22T15:41:01.5Z" },
	{ "2026-11-22T15:41:01.5Z stderr F [   77.5] ", "", 1795362061500, 77500000,
	  "2026-11-22T15:41:01.5Z" },
	{ "{\"log\":\"[   77.5] ",
	  "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-22T15:41:01.5Z\"}",
	  1795362061500, 77500000, "2026-11-22T15:41:01.5Z" },
	{ "{\"__REALTIME_TIMESTAMP\":\"1795362061500000\",\"MESSAGE\":\"", "\"}",
	  1795362061500, COUNT_UNKNOWN, "1795362061500000" },
	{ "22m         Warning   OOMKilling   node/aks-0    Memory cgroup out of memory: ",
	  "", 0, COUNT_UNKNOWN, "22m ago" },
	{ "  Warning  OOMKilling  3h5m  kernel-monitor  Memory cgroup out of memory: ",
	  "", 0, COUNT_UNKNOWN, "3h5m ago" },
	{ "2023-12-04T10:49:30.127Z In(05) vcpu-5 - Guest: <3>[39291577.009600] ", "",
	  1701686970127, 39291577009600, "2023-12-04T10:49:30.127Z" },
	{ "/var/log/kern.log-[  152.700479] ", "", 0, 152700479, "" },
	{ "1234:[  152.700479] ", "", 0, 152700479, "" },
	{ "messages:Sep 27 11:33:05 host kernel: ", "", 0, COUNT_UNKNOWN,
	  "Sep 27 11:33:05" },
};

static void the_time_is_parsed_from_each_kind_of_prefix(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		struct strbuf text = STRBUF_INIT;
		const struct oom_time *t;

		strbuf_addf(&text, "%s%s%s\n", styles[i].before, one_kill,
			    styles[i].after);
		parse(text.text);
		print_message("%s", text.text);
		assert_int_equal(list.count, 1);
		t = &list.items[0].time;
		assert_int_equal(list.items[0].victim.pid, 7);
		assert_int_equal(list.items[0].victim.file_bytes, 4 * KB);
		assert_int_equal(t->unix_ms, styles[i].unix_ms);
		assert_int_equal(t->boot_us, styles[i].boot_us);
		assert_string_equal(t->text, styles[i].text);
		strbuf_release(&text);
	}
}

/* The output of kubectl get events -o json; the second event has no time. */
static void kubernetes_events_have_times(void **state)
{
	static const char text[] =
		"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n"
		"            \"count\": 1,\n            \"eventTime\": null,\n"
		"            \"firstTimestamp\": \"2026-11-22T15:41:00Z\",\n"
		"            \"lastTimestamp\": \"2026-11-22T15:41:01Z\",\n"
		"            \"message\": \"Memory cgroup out of memory: Killed process 7 (a\\\"b) total-vm:100kB, "
		"anon-rss:8kB, file-rss:4kB\",\n            \"reason\": \"OOMKilling\"\n        },\n        {\n"
		"            \"eventTime\": null,\n            \"lastTimestamp\": null,\n"
		"            \"message\": \"Memory cgroup out of memory: Killed process 8 (c) total-vm:100kB, "
		"anon-rss:8kB, file-rss:4kB\"\n        },\n        {\n"
		"            \"eventTime\": \"2026-11-22T15:41:01.500000Z\",\n            \"lastTimestamp\": null,\n"
		"            \"message\": \"Memory cgroup out of memory: Killed process 9 (d) total-vm:100kB, "
		"anon-rss:8kB, file-rss:4kB\"\n        }\n    ]\n}\n";
	static const uint64_t times[] = { 1795362061000, 0, 1795362061500 };

	(void)state;
	parse(text);
	assert_int_equal(list.count, 3);
	for (size_t i = 0; i < list.count; i++) {
		assert_int_equal(list.items[i].victim.pid, 7 + i);
		assert_int_equal(list.items[i].victim.file_bytes, 4 * KB);
		assert_int_equal(list.items[i].time.unix_ms, times[i]);
	}
	assert_string_equal(list.items[0].victim.name, "a\"b");
	assert_string_equal(list.items[0].time.text, "2026-11-22T15:41:01Z");
	parse("{\"kind\":\"List\",\"items\":[{\"message\":\"Memory cgroup out of memory: Killed process 7 (a)\","
	      "\"lastTimestamp\":\"2026-11-22T15:41:01Z\"},{\"message\":\"none\"},7,{\"lastTimestamp\":"
	      "\"2026-11-22T15:41:01.5Z\",\"message\":\"Memory cgroup out of memory: Killed process 8 (b)\"}]}\n");
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < list.count; i++) {
		assert_int_equal(list.items[i].victim.pid, 7 + i);
		assert_int_equal(list.items[i].time.unix_ms, times[2 * i]);
	}
	parse("    \"\n    \"message\"\n    \"message\": 7,\n  \"message\": \"\n \"x\",\n");
	assert_int_equal(list.count, 0);
}

/* Endless lines and words: memory use stays bounded, and time grows linearly. */
static void endless_lines_are_ignored_past_a_length(void **state)
{
	static const char *const words[] = { "x",     "oom-kill:", "Killed process ",
					     "\\x0a", "[1.2] ",	   " Out of memory: ",
					     ",pid=", "{\"log\":", "[ " };
	struct kmsg_oom *p;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		oom_kill_list_release(&list);
		p = kmsg_oom_begin(&list);
		for (size_t n = 0; n < (4 << 20) / strlen(words[i]); n++)
			kmsg_oom_add(p, words[i], strlen(words[i]));
		kmsg_oom_add(p, "\n", 1);
		kmsg_oom_add(p, one_kill, strlen(one_kill));
		kmsg_oom_end(p);
		assert_int_equal(list.cut_line_count, 1);
		assert_true(list.count >= 1);
		assert_int_equal(list.items[list.count - 1].victim.pid, 7);
	}
}

/* Bytes after the end of a string do not belong to it. */
static void nothing_is_read_past_the_end_of_a_text(void **state)
{
	char line[] = "\0 oom-kill:constraint=CONSTRAINT_MEMCG, 2026-11-22T15:41:01Z ";
	struct oom_time time;

	(void)state;
	assert_null(kmsg_split_line(line));
	assert_ptr_equal(kmsg_stamp_skip(line, &time), line);
	assert_string_equal(time.text, "");
	assert_int_equal(time.unix_ms, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_shown_without_the_prefixes_of_the_device),
		cmocka_unit_test_teardown(the_time_is_parsed_from_each_kind_of_prefix,
					  end),
		cmocka_unit_test_teardown(kubernetes_events_have_times, end),
		cmocka_unit_test(nothing_is_read_past_the_end_of_a_text),
		cmocka_unit_test_teardown(endless_lines_are_ignored_past_a_length, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
