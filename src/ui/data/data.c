/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/data.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "ui/data/feed.h"
#include "ui/data/options.h"
#include "ui/data/replay.h"

void data_init(struct data *d, const struct ui_options *options)
{
	memset(d, 0, sizeof(*d));
	d->options = options;
	d->feed = options->replay ? feed_replay_new(options) : feed_live_new(options);
	d->processes = d->feed->processes;
	snapshot_init(&d->last_processes);
	snapshot_init(&d->detail);
	data_heap_init(&d->heap);
	data_group_init(&d->group);
	history_init(&d->history);
}

void data_release(struct data *d)
{
	d->feed->kind->free(d->feed);
	snapshot_release(&d->last_processes);
	snapshot_release(&d->detail);
	mapping_list_release(&d->mappings);
	data_heap_release(&d->heap);
	data_group_release(&d->group);
	seen_growth_release(&d->need);
	seen_growth_release(&d->live);
	history_release(&d->history);
}

/* Copy the list of processes. The copy stays visible after all targets have ended. */
static void keep_processes(struct data *d)
{
	const struct snapshot *now = d->feed->processes;
	struct snapshot *kept = &d->last_processes;

	snapshot_clear(kept);
	for (size_t i = 0; i < now->count; i++) {
		struct usage *u = snapshot_add(kept);

		*u = now->usages[i];
		if (u->command)
			u->command = xstrdup(u->command);
	}
	kept->taken_ns = now->taken_ns;
	kept->unix_ms = now->unix_ms;
	kept->unreadable_count = now->unreadable_count;
}

void data_refresh_processes(struct data *d, unsigned int needs, const int *visible_pids,
			    size_t visible_count)
{
	const struct snapshot *now;

	if (d->has_ended)
		return;
	d->list_error = d->feed->kind->read_processes(d->feed, needs, visible_pids,
						      visible_count);
	now = d->feed->processes;
	d->taken_ns = now->taken_ns;
	d->cost_ns = now->cost_ns;
	d->is_slowed = false;
	d->processes = now;
	if (targets_are_all(d->options->targets) || data_is_replayed(d))
		return;
	if (now->count > 0) {
		keep_processes(d);
	} else if (d->last_processes.count > 0 &&
		   targets_have_ended(d->options->targets, now)) {
		d->has_ended = true;
		d->processes = &d->last_processes;
	}
}

void data_open(struct data *d, const struct process *p)
{
	if (d->detail_pid == p->pid && d->detail_target.start_ticks == p->start_ticks)
		return;
	d->detail_pid = p->pid;
	d->detail_target = (struct target_pid){
		.pid = p->pid,
		.start_ticks = p->start_ticks,
		.had_memory = process_has_memory(p),
	};
	d->detail_has_ended = false;
	snapshot_clear(&d->detail);
	mapping_list_release(&d->mappings);
	data_heap_forget(&d->heap);
	history_clear(&d->history);
	seen_growth_clear(&d->need);
	seen_growth_clear(&d->live);
}

/* Swap the sample on the screen and its mappings with *next and *mappings. */
static void show_detail(struct data *d, struct snapshot *next,
			struct mapping_list *mappings)
{
	struct snapshot old = d->detail;
	struct mapping_list old_mappings = d->mappings;

	d->detail = *next;
	d->mappings = *mappings;
	*next = old;
	*mappings = old_mappings;
}

/*
 * Rebuild the trends of memory need and live blocks from the history, which ends at the
 * sample on the screen. Consecutive equal amounts of live blocks count as one heap read.
 */
static void replay_trends(struct data *d)
{
	const unsigned int live = PART_OWNER + OWNER_LIVE;
	const struct history *h = &d->history;
	uint64_t before = BYTES_UNKNOWN;

	seen_growth_clear(&d->need);
	seen_growth_clear(&d->live);
	for (size_t i = 0; i < h->count; i++) {
		const struct sample *s = &h->items[i];

		seen_growth_add(&d->need, s->taken_ns, s->bytes[PART_NEED]);
		if (s->bytes[live] != before)
			seen_growth_add(&d->live, s->taken_ns, s->bytes[live]);
		before = s->bytes[live];
	}
}

/*
 * Add the latest sample to the trends of memory need and live blocks. Live blocks are
 * added only after a new heap read, because all other samples repeat the result of the
 * last read.
 */
static void add_trends(struct data *d)
{
	const struct usage *u = &d->detail.usages[0];

	if (data_is_replayed(d)) {
		replay_trends(d);
		return;
	}
	seen_growth_add(&d->need, u->taken_ns, usage_need_bytes(u));
	if (u->heap_quality != QUALITY_UNKNOWN)
		seen_growth_add(&d->live, u->heap_taken_ns,
				matrix_owner_bytes(&u->matrix, OWNER_LIVE));
}

void data_refresh_detail(struct data *d, uint64_t interval_ns)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct snapshot next;
	int r;

	if (d->detail_has_ended && !data_is_replayed(d))
		return;
	snapshot_init(&next);
	d->taken_ns = clock_now_ns();
	r = d->feed->kind->read_process(d->feed, &d->detail_target, &next, &mappings);
	/* keep showing the last figures of a process that has ended */
	d->detail_has_ended = r == -ESRCH;
	d->list_error = r == -ESRCH ? 0 : r;
	if (r == 0)
		data_heap_add(d, &next.usages[0], &mappings);
	if (r == 0 || data_is_replayed(d))
		show_detail(d, &next, &mappings);
	if (data_is_replayed(d))
		data_replay_follow(d);
	else if (r == 0)
		history_add(&d->history, &d->detail.usages[0], interval_ns);
	if (r == 0)
		add_trends(d);
	d->cost_ns = clock_now_ns() - d->taken_ns;
	mapping_list_release(&mappings);
	snapshot_release(&next);
}

const struct usage *data_detail(const struct data *d)
{
	return d->detail.count > 0 ? &d->detail.usages[0] : NULL;
}

uint64_t data_detail_interval_ns(const struct data *d, uint64_t interval_ns)
{
	const struct usage *u = data_detail(d);
	unsigned int share = d->options->max_share_per_mille;
	uint64_t min_ns;

	if (!u || share == 0 || share >= 1000)
		return interval_ns;
	min_ns = u->read_ns / share * 1000;
	return min_ns > interval_ns ? min_ns : interval_ns;
}
