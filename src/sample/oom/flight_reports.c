/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight_private.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "proc/kmsg/printk_clock.h"

/*
 * Maximum time from the increase of a kill counter to the arrival of the kernel's report
 * about the kill.
 */
#define LOG_PATIENCE_NS (2 * NS_PER_S)
#define LOG_STEP_MS 20

uint64_t flight_unix_ms(uint64_t ns)
{
	uint64_t now = clock_now_ns();

	return clock_unix_ms() - (now > ns ? (now - ns) / NS_PER_MS : 0);
}

bool flight_has_pid(const struct flight *f, int pid)
{
	for (size_t i = 0; i < f->cgroup.pid_count; i++)
		if (f->cgroup.pids[i] == pid)
			return true;
	return false;
}

/*
 * Record kills that the cgroup's kill counter shows but whose reports are overdue. The
 * counter also includes victims that were already exiting.
 */
static void record_unlogged_kills(struct flight *f)
{
	uint64_t known_ms = flight_unix_ms(f->counts.unlogged_since_ns);
	struct recorded_event event = { known_ms, "oom_kill", NULL, 0 };

	f->counts.unlogged_kills = 0;
	if (flight_kills_any_since(&f->summary.kills, known_ms))
		return;
	flight_kills_add(&f->summary.kills, 0, known_ms, NULL);
	flight_record_event(f, &event);
}

static bool has_overdue_kills(const struct flight *f)
{
	return f->counts.unlogged_kills > 0 &&
	       clock_now_ns() >= f->counts.unlogged_since_ns + LOG_PATIENCE_NS;
}

/* Return the time of the report's first line, or of its arrival if it has no time. */
static uint64_t killed_ns(const struct flight *f, const struct oom_kill *k)
{
	return k->time.boot_us != COUNT_UNKNOWN
		       ? printk_clock_to_monotonic_ns(k->time.boot_us,
						      printk_clock_ahead_ns())
		       : f->log.added_ns;
}

/*
 * Record a kill that the kernel log reports, with the time of the report's first line.
 * The recording may already contain later samples. `log` may contain reports about other
 * cgroups; only the lines about this kill are recorded.
 */
static void record_kill(struct flight *f, const struct oom_kill *k, const char *log)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct recorded_event event = { flight_unix_ms(killed_ns(f, k)), "oom_kill",
					      flight_log_report(log, k, &text),
					      k->victim.pid };
	struct flight_kill *kill =
		flight_kills_find(&f->summary.kills, event.pid, event.unix_ms);

	if (!kill) {
		kill = flight_kills_add(&f->summary.kills, event.pid, event.unix_ms,
					snapshot_find(&f->processes.known, event.pid));
		text_copy(kill->comm, sizeof(kill->comm), k->victim.name);
	}
	if (kill->is_logged)
		return;
	kill->is_logged = true;
	flight_record_event(f, &event);
}

/*
 * Return true if the kernel log reports a kill in this cgroup. A rate-limited report
 * contains only the pid of the victim and no cgroup.
 */
static bool is_own_kill(struct flight *f, const struct oom_kill *k)
{
	if (flight_kills_has_logged(&f->summary.kills, k, &f->cgroup,
				    flight_unix_ms(f->log.added_ns)))
		return true;
	if (k->victim_path[0] != '\0' || k->limit_path[0] != '\0')
		return false;
	if (flight_has_pid(f, k->victim.pid) ||
	    flight_left_has(&f->left, k->victim.pid, killed_ns(f, k)))
		return true;
	f->counts.pathless_ns = f->log.added_ns;
	return false;
}

/*
 * Record the kills of complete reports. If is_last is set, no more lines will follow, so
 * an unfinished report counts as complete.
 */
static void record_logged_kills(struct flight *f, bool is_last)
{
	struct oom_kill_list kills = OOM_KILL_LIST_INIT;
	const char *text;

	if (!flight_log_next(&f->log, is_last ? UINT64_MAX : clock_now_ns(), &kills,
			     &text))
		return;
	for (size_t i = 0; i < kills.count; i++) {
		const struct oom_kill *k = &kills.items[i];

		if (k->victim.pid > 0 && is_own_kill(f, k))
			record_kill(f, k, text);
	}
	oom_kill_list_release(&kills);
}

static void add_log(struct flight *f)
{
	struct strbuf *records = oom_wakeups_log(f->wakeups);

	f->counts.reported_kills += flight_log_count_kills(records);
	flight_log_add(&f->log, records, clock_now_ns());
}

void flight_read_log(struct flight *f)
{
	add_log(f);
	record_logged_kills(f, false);
	if (has_overdue_kills(f))
		record_unlogged_kills(f);
}

void flight_finish(struct flight *f, bool is_removed)
{
	bool has_log = flight_source_error(f, OOM_SOURCE_LOG) == 0;
	uint64_t give_up_ns = clock_now_ns() + LOG_PATIENCE_NS;

	while (has_log) {
		oom_wakeups_read_log(f->wakeups);
		add_log(f);
		if (!flight_counts_is_log_behind(&f->counts, f->setup.fs) ||
		    clock_now_ns() >= give_up_ns)
			break;
		oom_wakeups_wait_for_log(f->wakeups, LOG_STEP_MS);
	}
	record_logged_kills(f, true);
	if (f->counts.unlogged_kills > 0)
		record_unlogged_kills(f);
	f->summary.is_end_unclear =
		is_removed &&
		flight_counts_are_open(&f->counts, f->setup.fs, has_log, f->sampled_ns);
}
