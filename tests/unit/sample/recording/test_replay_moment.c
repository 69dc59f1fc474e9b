/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments in recordings during which the clock was set. */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "../../support/recordings.h"
#include "sample/recording/replay.h"
#include "../../support/unit.h"

#define HOUR_MS UINT64_C(3600000)

static void add(struct recording *r, uint64_t unix_ms, uint64_t elapsed_ms)
{
	const struct recording_moment moment = { unix_ms, elapsed_ms * NS_PER_MS, 5000 };

	recordings_begin(r);
	recordings_add(r, 7, 100);
	assert_int_equal(recording_end(r, &moment), 0);
}

static void assert_moment(const struct replay *replay, const char *text, size_t wanted)
{
	size_t index;

	assert_int_equal(replay_find_moment(replay, text, &index), 0);
	if (index != wanted)
		fail_msg("%s is sample %zu, wanted %zu", text, index, wanted);
}

/* Make a recording in which the clock jumps between the second and the third sample. */
static struct replay *make(int64_t jump_ms)
{
	const uint64_t begin_ms = 10 * HOUR_MS;
	struct recording *r;
	struct replay *replay;

	recordings_open(&r);
	for (uint64_t i = 0; i < 5; i++)
		add(r, begin_ms + 1000 * i + (i < 2 ? 0 : (uint64_t)jump_ms), 1000 * i);
	recording_close(r);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	return replay;
}

static void assert_moments(int64_t jump_ms)
{
	struct replay *replay = make(jump_ms);
	size_t index;

	assert_moment(replay, "+0", 0);
	assert_moment(replay, "+1s", 1);
	assert_moment(replay, "+1999ms", 1);
	assert_moment(replay, "+2s", 2);
	assert_moment(replay, "+3s", 3);
	assert_moment(replay, "+1h", 4);
	assert_moment(replay, "-0", 4);
	assert_moment(replay, "-1s", 3);
	assert_moment(replay, "-3s", 1);
	assert_moment(replay, "-1h", 0);
	assert_moment(replay, "first", 0);
	assert_moment(replay, "last", 4);
	assert_int_equal(replay_find_moment(replay, "+x", &index), -EINVAL);
	assert_int_equal(replay_find_moment(replay, "firs", &index), -EINVAL);
	replay_close(replay);
}

static void relative_moments_ignore_clock_changes(void **state)
{
	(void)state;
	assert_moments(0);
	remove(recordings_path);
	assert_moments((int64_t)HOUR_MS);
	remove(recordings_path);
	assert_moments(-(int64_t)HOUR_MS);
}

static void between_sessions_the_wall_clock_counts(void **state)
{
	struct replay *replay;
	struct recording *r;

	(void)state;
	recordings_open(&r);
	add(r, 1000, 0);
	add(r, 2000, 1000);
	recording_close(r);
	recordings_open(&r);
	add(r, 12000, 0);
	add(r, 13000, 1000);
	recording_close(r);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_moment(replay, "+10s", 1);
	assert_moment(replay, "+11s", 2);
	assert_moment(replay, "-1s", 2);
	assert_moment(replay, "-2s", 1);
	replay_close(replay);
}

static void the_moment_of_the_last_kill_is_found(void **state)
{
	struct recorded_event event = { 1100, "limit", NULL, 0 };
	struct replay *replay;
	struct recording *r;
	size_t index = 77;

	(void)state;
	recordings_open(&r);
	add(r, 1000, 0);
	assert_int_equal(recording_add_event(r, &event), 0);
	recording_close(r);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_false(replay_find_kill(replay, &index));
	assert_int_equal(index, 77);
	replay_close(replay);
	recordings_open(&r);
	add(r, 2000, 0);
	add(r, 3000, 1000);
	event = (struct recorded_event){ 3500, "oom_kill", "text", 7 };
	assert_int_equal(recording_add_event(r, &event), 0);
	add(r, 4000, 2000);
	recording_close(r);
	assert_int_equal(replay_open(recordings_path, &replay), 0);
	assert_true(replay_find_kill(replay, &index));
	assert_int_equal(index, 2);
	replay_close(replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, recordings_set_up, recordings_tear_down)
		TEST(relative_moments_ignore_clock_changes),
		TEST(between_sessions_the_wall_clock_counts),
		TEST(the_moment_of_the_last_kill_is_found),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
