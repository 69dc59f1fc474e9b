/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test the selection of recorded processes by a name in their command line. */
#include "config.h"

#include "sample/recording/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "../../support/recordings.h"
#include "../../support/unit.h"

static void add(struct recording *r, int pid, const char *command, uint64_t rss_kb)
{
	struct usage u;

	recordings_make_usage(&u, pid, rss_kb);
	u.command = command ? xstrdup(command) : NULL;
	assert_int_equal(recording_add_usage(r, &u), 0);
	usage_release(&u);
}

static void assert_selected(struct replay *replay, const char *name, int pid)
{
	const struct targets targets = { .names = &name, .name_count = 1 };
	struct process found[3];
	struct snapshot snapshot;
	size_t count;

	snapshot_init(&snapshot);
	assert_int_equal(replay_read(replay, 0, &targets, &snapshot), 0);
	assert_int_equal(snapshot.count, pid != 0);
	if (pid)
		assert_int_equal(snapshot.usages[0].process.pid, pid);
	snapshot_release(&snapshot);
	assert_int_equal(
		replay_find_largest(replay, &targets, found, ARRAY_SIZE(found), &count),
		0);
	assert_int_equal(count, pid != 0);
	if (pid)
		assert_int_equal(found[0].pid, pid);
}

static void names_are_found_in_recorded_command_lines(void **state)
{
	struct recording *r;
	struct replay *replay;

	(void)state;
	recordings_open(&r);
	recordings_begin(r);
	add(r, 7, "python3 /srv/server.py --fast", 300);
	add(r, 8, "/usr/bin/other", 200);
	add(r, 9, NULL, 100);
	recordings_end(r, 1000);
	recording_close(r);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_selected(replay, "server.py", 7);
	assert_selected(replay, "oth*", 8);
	assert_selected(replay, "--fast", 0);
	replay_close(replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_found_in_recorded_command_lines,
						recordings_set_up, recordings_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
