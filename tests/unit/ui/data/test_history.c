/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/history.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

static void add(struct history *h, uint64_t at_s, uint64_t rss_bytes)
{
	struct usage u;

	usage_init(&u);
	u.taken_ns = at_s * NS_PER_S;
	u.total.bytes[SMAPS_RSS] = rss_bytes;
	history_add(h, &u, NS_PER_S);
	usage_release(&u);
}

static void changes_are_relative_to_the_first_sample(void **state)
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

static void the_rate_covers_the_last_five_seconds(void **state)
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

static void missing_samples_are_gaps(void **state)
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
	/* a pause of an hour must not make the history grow */
	add(&h, 100000, 5);
	assert_true(h.count <= HISTORY_MAX);
	history_release(&h);
}

/* Fill in anonymous memory, and live memory unless live_bytes is BYTES_UNKNOWN. */
static void fill_owners(struct usage *u, uint64_t at_s, uint64_t live_bytes,
			uint64_t anon_bytes)
{
	usage_init(u);
	u->taken_ns = at_s * NS_PER_S;
	u->total.bytes[SMAPS_RSS] = bytes_known(live_bytes) ? live_bytes + anon_bytes
							    : anon_bytes;
	matrix_set_no_heap(&u->matrix);
	u->matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = anon_bytes;
	if (!bytes_known(live_bytes))
		return;
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		u->matrix.cell[OWNER_LIVE][s] = 0;
	u->matrix.cell[OWNER_LIVE][STATE_PRIVATE_DIRTY] = live_bytes;
}

static void a_newly_read_heap_is_not_a_change(void **state)
{
	const enum part live = (enum part)(PART_OWNER + OWNER_LIVE);
	const enum part anon = (enum part)(PART_OWNER + OWNER_ANON);
	struct history h;
	struct usage u;
	int64_t change = 0;

	(void)state;
	history_init(&h);
	fill_owners(&u, 1, BYTES_UNKNOWN, 1000);
	history_add(&h, &u, NS_PER_S);
	fill_owners(&u, 2, 600, 400);
	history_add(&h, &u, NS_PER_S);
	assert_true(history_get_change(&h, anon, &change));
	assert_int_equal(change, 0);
	fill_owners(&u, 3, 650, 440);
	history_add(&h, &u, NS_PER_S);
	assert_true(history_get_change(&h, anon, &change));
	assert_int_equal(change, 40);
	assert_true(history_get_change(&h, live, &change));
	assert_int_equal(change, 50);
	assert_true(history_get_change(&h, PART_RSS, &change));
	assert_int_equal(change, 90);
	history_release(&h);
}

static void better_figures_replace_the_last_sample(void **state)
{
	struct history h;
	struct usage u;
	int64_t change = 0;

	(void)state;
	history_init(&h);
	add(&h, 1, 1000);
	add(&h, 2, 1500);
	fill_owners(&u, 2, 500, 1200);
	history_amend(&h, &u);
	assert_int_equal(h.count, 2);
	assert_true(history_get_change(&h, PART_RSS, &change));
	assert_int_equal(change, 700);
	history_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_relative_to_the_first_sample),
		cmocka_unit_test(the_rate_covers_the_last_five_seconds),
		cmocka_unit_test(missing_samples_are_gaps),
		cmocka_unit_test(a_long_history_keeps_its_start),
		cmocka_unit_test(a_newly_read_heap_is_not_a_change),
		cmocka_unit_test(better_figures_replace_the_last_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
