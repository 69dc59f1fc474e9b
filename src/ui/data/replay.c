/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/replay.h"

#include "base/clock.h"
#include "base/units.h"
#include "sample/recording/replay.h"
#include "ui/data/data.h"
#include "ui/data/feed.h"
#include "ui/data/options.h"

/*
 * Limits that keep the user from waiting long while the history for a graph is read.
 * memstate begins with GRAPH_SAMPLES samples. If reading takes longer than PATIENCE_NS,
 * it reads fewer samples the next time.
 */
#define GRAPH_SAMPLES 320
#define GRAPH_SAMPLES_MIN 64
#define PATIENCE_NS (150 * NS_PER_MS)

bool data_is_replayed(const struct data *d)
{
	return d->options->replay != NULL;
}

size_t data_replay_index(const struct data *d)
{
	return d->feed->index;
}

bool data_replay_go(struct data *d, size_t index)
{
	size_t last = replay_count(d->options->replay) - 1;

	if (index > last)
		index = last;
	if (index == d->feed->index)
		return false;
	d->feed->index = index;
	return true;
}

/*
 * Add the samples from `first` up to, but not including, the sample on the screen to the
 * history. Skip samples without the process.
 */
static void add_before(struct data *d, size_t first)
{
	size_t shown = d->feed->index;
	struct snapshot sample;

	snapshot_init(&sample);
	replay_scan(d->options->replay, true);
	for (size_t i = first; i < shown; i++) {
		d->feed->index = i;
		if (d->feed->kind->read_process(d->feed, &d->detail_target, &sample,
						NULL) == 0)
			history_add(&d->history, &sample.usages[0], 0);
	}
	replay_scan(d->options->replay, false);
	d->feed->index = shown;
	snapshot_release(&sample);
}

static void restart(struct data *d)
{
	size_t shown = d->feed->index, count = d->graph_samples;
	uint64_t began_ns = clock_now_ns(), took_ns;

	if (count == 0)
		count = GRAPH_SAMPLES;
	history_clear(&d->history);
	add_before(d, shown > count ? shown - count : 0);
	took_ns = clock_now_ns() - began_ns;
	if (took_ns > PATIENCE_NS)
		count = count / 2 > GRAPH_SAMPLES_MIN ? count / 2 : GRAPH_SAMPLES_MIN;
	d->graph_samples = count;
}

/*
 * Truncate or extend the history to end at the new position. Return false if the history
 * must be rebuilt instead.
 */
static bool amend(struct data *d, uint64_t taken_ns)
{
	struct history *h = &d->history;
	size_t shown = d->feed->index, last = d->history_index;

	if (h->count == 0)
		return false;
	if (shown <= last) {
		history_drop_after(h, taken_ns);
		return h->count >= GRAPH_SAMPLES_MIN || h->count > shown;
	}
	if (shown - last > GRAPH_SAMPLES_MIN)
		return false;
	add_before(d, last + 1);
	return true;
}

void data_replay_follow(struct data *d)
{
	const struct usage *u = data_detail(d);
	struct history *h = &d->history;

	if (!u)
		return;
	if (!amend(d, u->taken_ns))
		restart(d);
	d->history_index = d->feed->index;
	if (h->count == 0 || h->items[h->count - 1].taken_ns < u->taken_ns)
		history_add(h, u, 0);
}
