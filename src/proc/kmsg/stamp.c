/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/stamp.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/text.h"
#include "base/units.h"

/* Maximum length of a file name and host name before a timestamp or "kernel: ". */
#define PREFIX_MAX 200
#define PARTS_MAX 8

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const weekdays[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void set_text(struct oom_time *t, const char *from, const char *end)
{
	size_t length = (size_t)(end - from);

	if (length >= sizeof(t->text))
		length = sizeof(t->text) - 1;
	memcpy(t->text, from, length);
	t->text[length] = '\0';
}

static bool is_word_of(const char *at, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(at, words[i], 3) == 0)
			return true;
	return false;
}

/* Return the number that `count` digits form, or -1 if there are fewer digits. */
static int digits(const char *at, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		if (!isdigit((unsigned char)at[i]))
			return -1;
		value = value * 10 + at[i] - '0';
	}
	return value;
}

/* Return the milliseconds in ".127" or ",123456", and advance *at past the digits. */
static unsigned int skip_fraction(const char **at)
{
	unsigned int ms = 0, scale = 100;

	if ((**at != '.' && **at != ',') || !isdigit((unsigned char)(*at)[1]))
		return 0;
	for ((*at)++; isdigit((unsigned char)**at); (*at)++, scale /= 10)
		ms += (unsigned int)(**at - '0') * scale;
	return ms;
}

/* Parse a time zone ("Z", "+00:00", "+0000", " UTC"). Return false if it is missing. */
static bool skip_zone(const char **at, int *ret_minutes)
{
	const char *s = *at;
	int hours, minutes;

	*ret_minutes = 0;
	if (*s == 'Z') {
		*at = s + 1;
		return true;
	}
	if (strncmp(s, " UTC", 4) == 0) {
		*at = s + 4;
		return true;
	}
	if (*s != '+' && *s != '-')
		return false;
	hours = digits(s + 1, 2);
	if (hours < 0)
		return false;
	minutes = digits(s + 3 + (s[3] == ':'), 2);
	*ret_minutes = (hours * 60 + (minutes < 0 ? 0 : minutes)) * (*s == '-' ? -1 : 1);
	*at = minutes < 0 ? s + 3 : s + 5 + (s[3] == ':');
	return true;
}

/*
 * Parse a date such as "2023-12-04T10:49:30.127Z". A space may replace the T, and the
 * time zone may be missing. Return the end of the date or NULL.
 */
static const char *skip_iso(const char *at, struct oom_time *t)
{
	const char *s = at;
	struct tm tm = { 0 };
	unsigned int ms;
	int zone;
	time_t seconds;

	if (digits(s, 4) < 0 || s[4] != '-' || digits(s + 5, 2) < 0 || s[7] != '-' ||
	    digits(s + 8, 2) < 0 || (s[10] != 'T' && s[10] != ' ') ||
	    digits(s + 11, 2) < 0 || s[13] != ':' || digits(s + 14, 2) < 0 ||
	    s[16] != ':' || digits(s + 17, 2) < 0)
		return NULL;
	tm.tm_year = digits(s, 4) - 1900;
	tm.tm_mon = digits(s + 5, 2) - 1;
	tm.tm_mday = digits(s + 8, 2);
	tm.tm_hour = digits(s + 11, 2);
	tm.tm_min = digits(s + 14, 2);
	tm.tm_sec = digits(s + 17, 2);
	s += 19;
	ms = skip_fraction(&s);
	if (skip_zone(&s, &zone)) {
		seconds = timegm(&tm) - (time_t)zone * 60;
		if (seconds > 0)
			t->unix_ms = (uint64_t)seconds * 1000 + ms;
	}
	set_text(t, at, s);
	return s;
}

/*
 * Parse a date such as "Sep 27 11:33:05" or "Aug 3 06:58:55.050705". Return the end of
 * the date or NULL.
 */
static const char *skip_rfc3164(const char *at, struct oom_time *t)
{
	const char *s = at;

	if (!is_word_of(s, months, COUNT_OF(months)) || s[3] != ' ' ||
	    (s[4] != ' ' && !isdigit((unsigned char)s[4])) || digits(s + 5, 1) < 0 ||
	    s[6] != ' ' || digits(s + 7, 2) < 0 || s[9] != ':' || digits(s + 10, 2) < 0 ||
	    s[12] != ':' || digits(s + 13, 2) < 0)
		return NULL;
	s += 15;
	(void)skip_fraction(&s);
	set_text(t, at, s);
	return s;
}

/*
 * Parse a date such as "Thu Dec 7 00:05:14 2017" (dmesg -T) or "Sun 2026-11-22 15:41:01
 * UTC" (journalctl). Return the end of the date or NULL.
 */
static const char *skip_weekday(const char *at, struct oom_time *t)
{
	const char *s;

	if (!is_word_of(at, weekdays, COUNT_OF(weekdays)) || at[3] != ' ')
		return NULL;
	s = skip_iso(at + 4, t);
	if (s)
		return s;
	s = skip_rfc3164(at + 4, t);
	if (!s)
		return NULL;
	if (s[0] == ' ' && digits(s + 1, 4) > 0)
		s += 5;
	set_text(t, at, s);
	return s;
}

static const char *skip_date(const char *at, struct oom_time *t)
{
	const char *end = NULL;

	if (isdigit((unsigned char)at[0]))
		end = skip_iso(at, t);
	else if (isupper((unsigned char)at[0]))
		end = skip_weekday(at, t);
	return end || !isupper((unsigned char)at[0]) ? end : skip_rfc3164(at, t);
}

static void set_boot(struct oom_time *t, uint64_t us)
{
	if (t->boot_us == COUNT_UNKNOWN)
		t->boot_us = us;
}

/*
 * Parse seconds such as "123.456789" into microseconds. Return the end of the number
 * or NULL.
 */
static const char *skip_seconds(const char *at, uint64_t *ret_us)
{
	uint64_t us = 0, scale = 100000;
	const char *s = at;

	for (; isdigit((unsigned char)*s) && s < at + 12; s++)
		us = us * 10 + (uint64_t)(*s - '0');
	if (s == at || *s != '.' || !isdigit((unsigned char)s[1]))
		return NULL;
	us *= 1000000;
	for (s++; isdigit((unsigned char)*s); s++, scale /= 10)
		us += (uint64_t)(*s - '0') * scale;
	*ret_us = us;
	return s;
}

/*
 * Parse a bracketed prefix: "[ 123.456] ", "[Thu Dec 7 00:05:14 2017] ", "[ 123.456 <
 * 0.001>] ", "[ T123] " or "[ +0.000003] ". Return its end, or NULL for other brackets,
 * such as those around a pid in the table of tasks.
 */
static const char *skip_bracket(const char *at, struct oom_time *t)
{
	const char *s = at + 1 + strspn(at[0] == '[' ? at + 1 : "", " ");
	const char *end = at[0] == '[' ? memchr(at, ']', strnlen(at, 48)) : NULL;
	uint64_t us;

	if (!end)
		return NULL;
	if (skip_seconds(s, &us)) {
		set_boot(t, us);
	} else if ((*s == 'T' || *s == 'C') && digits(s + 1, 1) >= 0) {
		/* the bracketed prefix names the thread or CPU that logged the line */
	} else if (!(*s == '+' && digits(s + 1, 1) >= 0) && !skip_date(s, t) &&
		   !(is_word_of(s, months, COUNT_OF(months)) && digits(s + 4, 1) >= 0)) {
		return NULL;
	}
	end++;
	return end + (*end == ' ');
}

/*
 * Parse the prefix of "6,1234,5678901,-;text", the format of /dev/kmsg. The third number
 * is the time since boot in µs. Return the end of the prefix or NULL.
 */
static const char *skip_device(const char *at, struct oom_time *t)
{
	const char *end, *third;

	if (!isdigit((unsigned char)at[0]))
		return NULL;
	end = at + strspn(at, "0123456789,-c");
	if (*end != ';')
		return NULL;
	third = strchr(at, ',');
	third = third ? strchr(third + 1, ',') : NULL;
	if (third && third < end && isdigit((unsigned char)third[1]))
		set_boot(t, strtoull(third + 1, NULL, 10));
	return end + 1;
}

/*
 * Skip a log level such as "<6>", "<4>1 " (RFC 5424), or "kern :info : " (dmesg -x).
 * Return the end of the level or NULL.
 */
static const char *skip_level(const char *at)
{
	const char *s = at;

	if (*s == '<' && isdigit((unsigned char)s[1])) {
		s += 1 + strspn(s + 1, "0123456789");
		if (*s != '>')
			return NULL;
		s++;
		return digits(s, 1) >= 0 && s[1] == ' ' && digits(s + 2, 4) >= 0 ? s + 2
										 : s;
	}
	if (strncmp(s, "kern", 4) == 0 && (s[4] == ' ' || s[4] == ':')) {
		s += 4 + strspn(s + 4, " ");
		if (*s != ':')
			return NULL;
		s += 1 + strspn(s + 1, "abcdefghijklmnopqrstuvwxyz");
		s += strspn(s, " ");
		return *s == ':' ? s + 1 + strspn(s + 1, " ") : NULL;
	}
	return NULL;
}

/*
 * Skip the name of the sender, such as " kernel: ", " kernel - - - " (RFC 5424), or " -
 * Guest: ". Return the end of the name or NULL.
 */
static const char *skip_source(const char *at)
{
	static const char *const sources[] = { "kernel: ", "kernel - - - ", "Guest: " };
	size_t length = strnlen(at, PREFIX_MAX);

	for (size_t i = 0; i < COUNT_OF(sources); i++) {
		size_t size = strlen(sources[i]);
		const char *s = length >= size ? memmem(at, length, sources[i], size)
					       : NULL;

		if (s && (s == at || s[-1] == ' ' || s[-1] == '\t'))
			return s + size;
	}
	return NULL;
}

/*
 * Skip an age in kubectl's format, such as "22m" or "3h5m". Return the end of the age or
 * NULL.
 */
static const char *skip_age(const char *at)
{
	const char *s = at;

	while (isdigit((unsigned char)*s)) {
		const char *unit = s + strspn(s, "0123456789");

		if (!strchr("smhd", *unit) || *unit == '\0')
			return NULL;
		s = unit + 1;
	}
	return s > at && (*s == ' ' || *s == '\t') ? s : NULL;
}

/* Store the age that kubectl get events or kubectl describe node lists for an event. */
static void read_event_age(const char *line, struct oom_time *t)
{
	size_t length = strnlen(line, PREFIX_MAX);
	const char *reason = memmem(line, length, " OOMKilling ", 12);

	if (!reason)
		reason = memmem(line, length, "\tOOMKilling\t", 12);
	for (const char *s = line; reason && s < line + length; s++) {
		const char *end = s == line || isspace((unsigned char)s[-1]) ? skip_age(s)
									     : NULL;

		if (!end)
			continue;
		set_text(t, s, end);
		text_copy(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text),
			  " ago");
		return;
	}
}

/*
 * Skip the stream name and the tag of the CRI format, such as "stdout F " (F: full line,
 * P: partial line). Return the end of the tag or NULL.
 */
static const char *skip_stream(const char *at)
{
	size_t length =
		strncmp(at, "std", 3) == 0 ? strspn(at, "abcdefghijklmnopqrstuvwxyz") : 0;

	return length == 6 && (strncmp(at + 6, " F ", 3) == 0 ||
			       strncmp(at + 6, " P ", 3) == 0)
		       ? at + 9
		       : NULL;
}

static const char *skip_part(const char *at, struct oom_time *t)
{
	const char *next = skip_device(at, t);

	if (!next)
		next = skip_stream(at);

	if (!next)
		next = skip_level(at);
	if (!next)
		next = skip_bracket(at, t);
	if (!next && t->text[0] == '\0')
		next = skip_date(at, t);
	return next;
}

/*
 * Find a date, or a timestamp such as "[123.456] ", that follows a file name or a line
 * number. Return the end of the timestamp or NULL.
 */
static const char *find_part(const char *line, struct oom_time *t)
{
	for (const char *s = line[0] == '\0' ? line : line + 1;
	     *s && s < line + PREFIX_MAX; s++) {
		const char *end;

		if (s[-1] != ':' && s[-1] != '-' && s[-1] != ' ')
			continue;
		if (*s != '[' && !isdigit((unsigned char)*s) &&
		    !isupper((unsigned char)*s))
			continue;
		end = *s == '[' ? skip_bracket(s, t) : skip_date(s, t);
		if (end)
			return end;
	}
	return NULL;
}

char *kmsg_stamp_skip(char *line, struct oom_time *ret)
{
	struct oom_time t = { .boot_us = COUNT_UNKNOWN };
	const char *at = line + strspn(line, " \t"), *next = NULL, *first = at;

	for (int i = 0; i < PARTS_MAX; i++) {
		next = skip_part(at, &t);
		if (!next && i == 0)
			next = find_part(at, &t);
		if (!next)
			next = skip_source(at);
		if (!next)
			break;
		at = next;
		if (t.text[0] != '\0' && *at == ' ')
			at++;
	}
	if (t.text[0] == '\0' && t.boot_us == COUNT_UNKNOWN)
		read_event_age(line, &t);
	*ret = t;
	/* if the line has no prefix, its leading white space is part of the message */
	return line + ((at == first ? line : at) - line);
}

static bool find_text(struct json_part object, const char *const *keys, size_t count,
		      struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		struct json_part value;

		strbuf_clear(out);
		if (json_find_member(object, keys[i], &value) < 0)
			continue;
		if (value.length > 0 && value.text[0] == '"') {
			if (json_read_text(value, out) == 0)
				return true;
		} else {
			strbuf_add(out, value.text, value.length);
			return true;
		}
	}
	return false;
}

static void set_json_time(const char *text, struct oom_time *t)
{
	uint64_t number;

	if (skip_iso(text, t))
		return;
	/* the time in journald's JSON is in microseconds */
	if (num_parse_u64(text, &number) == 0 && number > UINT64_C(1000000000000000)) {
		t->unix_ms = number / 1000;
		text_copy(t->text, sizeof(t->text), text);
	}
}

bool kmsg_stamp_read_json(const char *line, size_t length, struct strbuf *out,
			  struct oom_time *ret)
{
	static const char *const messages[] = { "MESSAGE", "log", "message", "msg" };
	static const char *const times[] = { "__REALTIME_TIMESTAMP", "time",
					     "lastTimestamp",	     "timestamp",
					     "@timestamp",	     "ts" };
	static const char *const boots[] = { "_SOURCE_MONOTONIC_TIMESTAMP" };
	struct json_part object = { line, length };
	struct oom_time t = { .boot_us = COUNT_UNKNOWN };
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
	uint64_t us;

	if (length == 0 || line[0] != '{' ||
	    !find_text(object, messages, COUNT_OF(messages), out))
		return false;
	if (find_text(object, times, COUNT_OF(times), &word))
		set_json_time(strbuf_text(&word), &t);
	if (find_text(object, boots, COUNT_OF(boots), &word) &&
	    num_parse_u64(strbuf_text(&word), &us) == 0)
		t.boot_us = us;
	*ret = t;
	return true;
}

bool kmsg_stamp_read_member(const char *line, size_t length, struct strbuf *out,
			    struct oom_time *time)
{
	static const char *const messages[] = { "message" };
	static const char *const times[] = { "eventTime", "firstTimestamp",
					     "lastTimestamp" };
	size_t blanks = strspn(line, " \t");
	_cleanup_strbuf_ struct strbuf object = STRBUF_INIT;
	struct json_part part;

	if (blanks == 0 || line[blanks] != '"')
		return false;
	strbuf_add_char(&object, '{');
	strbuf_add(&object, line + blanks, length - blanks);
	if (object.text[object.length - 1] == ',')
		object.length--;
	strbuf_add_char(&object, '}');
	part = (struct json_part){ object.text, object.length };
	if (find_text(part, times, COUNT_OF(times), out))
		set_json_time(strbuf_text(out), time);
	return find_text(part, messages, COUNT_OF(messages), out);
}
