/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/peak.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/session/heaps.h"
#include "cmd/session/session.h"

/*
 * The first sampling interval, which is doubled until it reaches the session's interval.
 * It is short, because many commands end soon.
 */
#define FIRST_INTERVAL_NS (10 * NS_PER_MS)

/*
 * Maximum time in ns that a sample waits for a heap walk. The limit is fixed, because the
 * sampling interval varies. A longer wait could hide the peak.
 */
#define PATIENCE_NS (50 * NS_PER_MS)

void peak_release(struct peak *peak)
{
	snapshot_release(&peak->snapshot);
	mapping_list_release(&peak->mappings);
}

static uint64_t sum_rss(const struct snapshot *snapshot)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < snapshot->count; i++)
		if (bytes_known(snapshot->usages[i].total.bytes[SMAPS_RSS]))
			sum += snapshot->usages[i].total.bytes[SMAPS_RSS];
	return sum;
}

static int read_sample(struct session *session, bool with_mappings, unsigned int needs,
		       struct peak *ret)
{
	struct targets *targets = &session->options->targets;
	int r;

	if (!with_mappings)
		return sampler_take(session->sampler, targets, needs, &ret->snapshot);
	r = sampler_list(session->sampler, targets, NEED_STAT, &ret->snapshot);
	if (r < 0 || ret->snapshot.count == 0)
		return r;
	if (!process_has_memory(&ret->snapshot.usages[0].process) ||
	    heaps_read(session, &ret->snapshot.usages[0], &ret->mappings) < 0)
		/* discard the sample, because the process is ending */
		snapshot_clear(&ret->snapshot);
	return 0;
}

/* Take a sample, and record it if there is a recorder. */
static int take(struct session *session, bool with_mappings, unsigned int needs,
		struct peak *ret)
{
	struct recorder *recorder = session->recorder;
	int r;

	if (!recorder)
		return read_sample(session, with_mappings, needs, ret);
	recorder_begin(recorder);
	r = read_sample(session, with_mappings, needs | RECORDER_NEEDS, ret);
	if (r == 0 && with_mappings && ret->snapshot.count == 1)
		recorder_add(recorder, &ret->snapshot.usages[0], &ret->mappings);
	/* ignore errors, because recordings_finish() reports them */
	if (r == 0)
		(void)recorder_end(recorder, &ret->snapshot, NULL);
	return r;
}

/*
 * Return the time of the most recent heap walk in the snapshot, or 0 if no heap
 * was walked.
 */
static uint64_t last_walk_ns(const struct snapshot *snapshot)
{
	uint64_t last = 0;

	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->usages[i].heap_taken_ns > last)
			last = snapshot->usages[i].heap_taken_ns;
	return last;
}

/*
 * Return true if a is the better peak: the larger sample or, if both have the same size,
 * the sample with the more recent heap walk.
 */
static bool is_better(const struct peak *a, const struct peak *b)
{
	if (a->rss_bytes != b->rss_bytes)
		return a->rss_bytes > b->rss_bytes;
	return last_walk_ns(&a->snapshot) > last_walk_ns(&b->snapshot);
}

/*
 * If the sample in *latest is better than the one in *best (is_better()), or is the first
 * sample, swap the two. In any case, add 1 to best->sample_count.
 */
static void keep_larger(struct peak *best, struct peak *latest)
{
	struct peak smaller = *best;

	latest->rss_bytes = sum_rss(&latest->snapshot);
	latest->sample_count = best->sample_count + 1;
	if (best->sample_count > 0 && !is_better(latest, best)) {
		best->sample_count++;
		return;
	}
	*best = *latest;
	*latest = smaller;
}

/* Wait until the next sample is due or the command has ended. */
static void wait_for(struct session *session, uint64_t due_ns)
{
	struct child *child = &session->child;
	int stops = signals_stop_count();

	/*
	 * wait once even if the sample is already due, because signals are delivered only
	 * during a wait, and samples may take longer than the interval
	 */
	do {
		signals_wait_until(due_ns);
		child_poll(child);
		if (signals_stop_count() == stops)
			continue;
		/*
		 * do not forward SIGINT, because the terminal also sends it to the
		 * command
		 */
		if (signals_last_stop() != SIGINT)
			child_signal(child, signals_last_stop());
		stops = signals_stop_count();
	} while (clock_now_ns() < due_ns && !child->has_ended);
}

static uint64_t next_interval(const struct session *session, uint64_t interval_ns)
{
	const struct options *o = session->options;
	uint64_t min_ns = 0;
	int pid;

	if (o->max_share_per_mille < 1000)
		min_ns = sampler_min_interval_ns(session->sampler, o->max_share_per_mille,
						 &pid);
	interval_ns = interval_ns < o->interval_ns / 2 ? interval_ns * 2 : o->interval_ns;
	return interval_ns > min_ns ? interval_ns : min_ns;
}

int peak_find(struct session *session, bool with_mappings, unsigned int needs,
	      struct peak *ret)
{
	uint64_t interval_ns = FIRST_INTERVAL_NS;
	uint64_t start_ns = clock_now_ns();
	struct peak latest;
	int r = 0;

	memset(&latest, 0, sizeof(latest));
	memset(ret, 0, sizeof(*ret));
	if (interval_ns > session->options->interval_ns)
		interval_ns = session->options->interval_ns;
	heaps_set_patience(session, PATIENCE_NS);
	child_poll(&session->child);
	while (r == 0 && !session->child.has_ended && signals_stop_count() < 2) {
		uint64_t now = clock_now_ns();

		r = take(session, with_mappings, needs, &latest);
		latest.snapshot.elapsed_ns = now - start_ns;
		if (r == 0 && latest.snapshot.count > 0)
			keep_larger(ret, &latest);
		wait_for(session, now + interval_ns);
		interval_ns = next_interval(session, interval_ns);
	}
	if (r < 0)
		message_error(session->options->procfs_root, r);
	peak_release(&latest);
	return r;
}
