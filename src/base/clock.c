/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_unix_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / NS_PER_MS;
}

const char *clock_format_utc(uint64_t unix_ms, char buf[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm;
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(buf, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + length, CLOCK_TEXT_SIZE - length, ".%03uZ",
		 (unsigned int)(unix_ms % 1000));
	return buf;
}

/*
 * Parse the part of an RFC 3339 time that follows the seconds: an optional fraction and
 * "Z". For example, ".25Z" is 250 ms, and "Z" alone is 0 ms. More than three digits are
 * an error.
 */
static int parse_fraction(const char *text, uint64_t *ret_ms)
{
	uint64_t ms = 0, unit = 100;

	if (*text == '.' && text[1] != 'Z')
		for (text++; *text >= '0' && *text <= '9' && unit > 0; text++, unit /= 10)
			ms += (uint64_t)(*text - '0') * unit;
	if (strcmp(text, "Z") != 0)
		return -EINVAL;
	*ret_ms = ms;
	return 0;
}

int clock_parse_utc(const char *text, uint64_t *ret_unix_ms)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ms;
	time_t seconds;

	if (!rest || parse_fraction(rest, &ms) < 0)
		return -EINVAL;
	seconds = timegm(&tm);
	if (seconds < 0)
		return -EINVAL;
	*ret_unix_ms = (uint64_t)seconds * 1000 + ms;
	return 0;
}

void schedule_init(struct schedule *s, uint64_t start_ns, uint64_t interval_ns)
{
	*s = (struct schedule){ .start_ns = start_ns, .interval_ns = interval_ns };
}

uint64_t schedule_due_ns(const struct schedule *s)
{
	uint64_t since, due;

	if (__builtin_mul_overflow(s->next, s->interval_ns, &since) ||
	    __builtin_add_overflow(s->start_ns, since, &due))
		return UINT64_MAX;
	return due;
}

uint64_t schedule_advance(struct schedule *s, uint64_t now_ns)
{
	uint64_t due = schedule_due_ns(s);
	uint64_t late = now_ns > due ? (now_ns - due) / s->interval_ns : 0;

	s->next += 1 + late;
	s->missed_count += late;
	return late;
}

void schedule_set_interval(struct schedule *s, uint64_t now_ns, uint64_t interval_ns)
{
	s->start_ns = now_ns;
	s->interval_ns = interval_ns;
	s->next = 1;
}
