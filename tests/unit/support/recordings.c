/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "recordings.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "unit.h"

struct tree recordings_tree;
char recordings_path[64];

int recordings_set_up(void **state)
{
	(void)state;
	tree_make(&recordings_tree);
	snprintf(recordings_path, sizeof(recordings_path), "%s/recording",
		 recordings_tree.root);
	return 0;
}

int recordings_tear_down(void **state)
{
	(void)state;
	tree_remove(&recordings_tree);
	return 0;
}

void recordings_open(struct recording **ret)
{
	static const struct recording_bounds none;
	int r = recording_open(recordings_path, &none, ret);

	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
}

void recordings_make_usage(struct usage *u, int pid, uint64_t rss_kb)
{
	usage_init(u);
	u->process.pid = pid;
	u->process.start_ticks = 77;
	u->process.ppid = 1;
	u->process.uid = 1000;
	u->process.thread_count = 3;
	u->process.state = 'S';
	snprintf(u->process.comm, sizeof(u->process.comm), "p\xff%d", pid);
	counters_set_zero(&u->total);
	u->total.bytes[SMAPS_RSS] = rss_kb * KB;
	u->total.bytes[SMAPS_PSS] = rss_kb * KB / 2;
	u->total.bytes[SMAPS_SWAP] = 8 * KB;
	u->total.bytes[SMAPS_SIZE] = BYTES_UNKNOWN;
	u->source = SOURCE_ROLLUP;
}

/*
 * Once per second of recorded time the recording waits for the disk, so most
 * tests use little recorded time.
 */
void recordings_end(struct recording *r, uint64_t ms)
{
	const struct recording_moment moment = { ms, ms * NS_PER_MS, 5000 };

	assert_int_equal(recording_end(r, &moment), 0);
}

void recordings_begin(struct recording *r)
{
	assert_int_equal(recording_begin(r), 0);
}

void recordings_add(struct recording *r, int pid, uint64_t rss_kb)
{
	struct usage u;

	recordings_make_usage(&u, pid, rss_kb);
	assert_int_equal(recording_add_usage(r, &u), 0);
	usage_release(&u);
}

void recordings_sample(struct recording *r, uint64_t ms, int pid, uint64_t rss_kb)
{
	recordings_begin(r);
	recordings_add(r, pid, rss_kb);
	recordings_end(r, ms);
}
