/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/history.h"

#include <string.h>

#include "base/units.h"
#include "unit.h"

static void add(struct history *h, uint64_t at_s, uint64_t rss_bytes)
{
	struct usage u;

	usage_init(&u);
	u.taken_ns = at_s * NS_PER_S;
	u.total.bytes[SMAPS_RSS] = rss_bytes;
	history_add(h, &u, NS_PER_S);
	usage_release(&u);
}

static void change_is_since_the_first_sample(void **state)
{
	struct history h;
	int64_t change = 7;

	(void)state;
	history_init(&h);
	assert_false(history_get_change(&h, PART_RSS, &change));
	add(&h, 1, 1000);
	assert_false(history_get_change(&h, PART_RSS, &change));
	assert_int_equal(change, 7);
	add(&h, 2, 1500);
	add(&h, 3, 400);
	assert_true(history_get_change(&h, PART_RSS, &change));
	assert_int_equal(change, -600);
	assert_false(history_get_change(&h, PART_PSS, &change));
	history_release(&h);
}

static void a_rate_is_over_the_last_five_seconds(void **state)
{
	struct history h;
	int64_t rate = 0;

	(void)state;
	history_init(&h);
	for (uint64_t s = 1; s <= 20; s++)
		add(&h, s, s < 10 ? 100000 : 100000 + s * 50);
	assert_true(history_get_rate(&h, PART_RSS, &rate));
	assert_int_equal(rate, 50);
	history_release(&h);
}

static void samples_that_did_not_come_are_gaps(void **state)
{
	uint64_t bytes[8];
	struct history h;

	(void)state;
	history_init(&h);
	add(&h, 1, 10);
	add(&h, 2, 20);
	add(&h, 5, 50);
	assert_int_equal(history_copy(&h, PART_RSS, 8, bytes), 5);
	assert_true(bytes[1] == 20 && !bytes_known(bytes[2]) && !bytes_known(bytes[3]) &&
		    bytes[4] == 50);
	assert_int_equal(history_copy(&h, PART_RSS, 2, bytes), 2);
	assert_true(!bytes_known(bytes[0]) && bytes[1] == 50);
	history_release(&h);
}

static void a_long_history_keeps_its_start(void **state)
{
	struct history h;
	int64_t change = 0;

	(void)state;
	history_init(&h);
	for (uint64_t s = 1; s <= 3 * HISTORY_MAX; s++)
		add(&h, s, 1000 + s);
	assert_true(h.count <= HISTORY_MAX && h.count > HISTORY_MAX / 2);
	assert_true(history_get_change(&h, PART_RSS, &change));
	assert_int_equal(change, 3 * HISTORY_MAX - 1);
	/* a pause of an hour is no reason for memory without end */
	add(&h, 100000, 5);
	assert_true(h.count <= HISTORY_MAX);
	history_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(change_is_since_the_first_sample),
		cmocka_unit_test(a_rate_is_over_the_last_five_seconds),
		cmocka_unit_test(samples_that_did_not_come_are_gaps),
		cmocka_unit_test(a_long_history_keeps_its_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
