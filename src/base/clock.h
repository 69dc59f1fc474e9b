/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock - read clocks, and compute when the next sample is due.
 *
 * Sample k is due at start + k * interval, however long earlier samples took, so the
 * schedule does not drift. A late sample is taken immediately. Due times that passed in
 * the meantime are skipped and counted as missed, so no burst of samples follows.
 */
#ifndef MS_BASE_CLOCK_H
#define MS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Return CLOCK_MONOTONIC in ns. */
uint64_t clock_now_ns(void);

/* Return the time since boot in ns, including time spent suspended. */
uint64_t clock_boot_ns(void);

/* Return the CPU time of the calling thread in ns. */
uint64_t clock_thread_cpu_ns(void);

/* Return CLOCK_REALTIME in ms since 1970-01-01 UTC. */
uint64_t clock_unix_ms(void);

#define CLOCK_TEXT_SIZE 32

/*
 * Format a time per RFC 3339, in UTC with milliseconds:
 * "2026-11-21T08:15:30.250Z". Return buf.
 */
const char *clock_format_utc(uint64_t unix_ms, char buf[CLOCK_TEXT_SIZE]);

/*
 * Parse a time in the format of clock_format_utc(), with or without a
 * fraction. Return 0 or -EINVAL.
 */
int clock_parse_utc(const char *text, uint64_t *ret_unix_ms);

struct schedule {
	uint64_t start_ns;
	uint64_t interval_ns; /* greater than 0 */
	uint64_t next; /* the next sample is due at start_ns + next * interval_ns */
	uint64_t missed_count;
};

void schedule_init(struct schedule *s, uint64_t start_ns, uint64_t interval_ns);

/*
 * Return when the next sample is due, in ns on the same clock as
 * start_ns, or UINT64_MAX on overflow.
 */
uint64_t schedule_due_ns(const struct schedule *s);

/*
 * Advance the schedule to the first due time after now_ns, the time at which a sample is
 * taken. Return how many due times were missed since the previous sample.
 */
uint64_t schedule_advance(struct schedule *s, uint64_t now_ns);

/* Change the interval. The next sample is due one interval after now_ns. */
void schedule_set_interval(struct schedule *s, uint64_t now_ns, uint64_t interval_ns);

#endif
