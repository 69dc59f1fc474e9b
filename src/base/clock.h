/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock - time, and when the next sample is due.
 *
 * Sample k is due at start + k * interval, whatever earlier samples took: no drift. A
 * sample that comes late is taken at once and not followed by a burst; the ones whose
 * time had passed by more than a whole interval are missed, and counted.
 */
#ifndef MS_BASE_CLOCK_H
#define MS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t clock_now_ns(void);

/* CPU time of the calling thread, ns. */
uint64_t clock_thread_cpu_ns(void);

/* CLOCK_REALTIME, ms since 1970-01-01 UTC. */
uint64_t clock_unix_ms(void);

#define CLOCK_TEXT_SIZE 32

/* RFC 3339 in UTC with milliseconds: "2026-11-21T08:15:30.250Z". Returns buf. */
const char *clock_format_utc(uint64_t unix_ms, char buf[CLOCK_TEXT_SIZE]);

/* Such a text, with or without a fraction. Returns 0 or -EINVAL. */
int clock_parse_utc(const char *text, uint64_t *ret_unix_ms);

struct schedule {
	uint64_t start_ns;
	uint64_t interval_ns; /* > 0 */
	uint64_t next;	      /* index k of the sample that comes next */
	uint64_t missed_count;
};

void schedule_init(struct schedule *s, uint64_t start_ns, uint64_t interval_ns);

/* When the next sample is due, ns on the clock of start_ns; UINT64_MAX where that clock ends. */
uint64_t schedule_due_ns(const struct schedule *s);

/*
 * The next sample is being taken, at now_ns: move on to the first one that is due after now, and
 * return how many due times between were missed.
 */
uint64_t schedule_advance(struct schedule *s, uint64_t now_ns);

/* From now on use another interval; the next sample is due one interval after now. */
void schedule_set_interval(struct schedule *s, uint64_t now_ns, uint64_t interval_ns);

#endif
