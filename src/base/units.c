/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"

int units_bytes_from_kib(uint64_t kib, uint64_t *ret_bytes)
{
	/*
	 * The maximum amount is 2^64-1024 bytes, so that no known
	 * amount equals BYTES_UNKNOWN.
	 */
	if (kib > UINT64_MAX / 1024)
		return -ERANGE;
	*ret_bytes = kib * 1024;
	return 0;
}

uint64_t units_bytes_to_kib(uint64_t bytes)
{
	return bytes / 1024;
}

struct suffix {
	const char *text;
	uint64_t unit;
};

/* Parse a number with up to three decimals and one of the given suffixes. */
static int parse_with_suffix(const char *text, const struct suffix *suffixes,
			     size_t count, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789.");
	char number[32];
	uint64_t thousandths;
	int r;

	if (digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	r = num_parse_thousandths(number, &thousandths);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text + digits, suffixes[i].text) != 0)
			continue;
		if (thousandths > UINT64_MAX / suffixes[i].unit)
			return -ERANGE;
		*ret = thousandths * suffixes[i].unit / 1000;
		return 0;
	}
	return -EINVAL;
}

int units_parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct suffix suffixes[] = {
		{ "", NS_PER_S },	  { "us", NS_PER_US },
		{ "ms", NS_PER_MS },	  { "s", NS_PER_S },
		{ "m", 60 * NS_PER_S },	  { "min", 60 * NS_PER_S },
		{ "h", 3600 * NS_PER_S }, { "d", 24 * 3600 * NS_PER_S },
	};

	return parse_with_suffix(text, suffixes, sizeof(suffixes) / sizeof(suffixes[0]),
				 ret_ns);
}

int units_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	static const struct suffix suffixes[] = {
		{ "B", 1 },
		{ "K", UINT64_C(1) << 10 },
		{ "M", UINT64_C(1) << 20 },
		{ "G", UINT64_C(1) << 30 },
		{ "T", UINT64_C(1) << 40 },
	};

	return parse_with_suffix(text, suffixes, sizeof(suffixes) / sizeof(suffixes[0]),
				 ret_bytes);
}

int units_parse_percent(const char *text, uint64_t *ret_thousandths)
{
	size_t length = strlen(text);
	_cleanup_free_ char *number = NULL;

	if (length > 0 && text[length - 1] == '%')
		length--;
	number = xstrndup(text, length);
	return num_parse_thousandths(number, ret_thousandths);
}

const char *units_format_bytes(uint64_t bytes, char buf[UNITS_TEXT_SIZE])
{
	static const char prefixes[] = "KMGTPE";
	uint64_t unit = 1024;
	size_t i = 0;
	uint64_t tenths;

	if (!bytes_known(bytes)) {
		snprintf(buf, UNITS_TEXT_SIZE, "-");
		return buf;
	}
	if (bytes < 1024) {
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64, bytes);
		return buf;
	}
	/* 1023.95K would be rounded to "1024.0K", so switch to "1.0M" there */
	while (prefixes[i + 1] && bytes / unit >= 1023 &&
	       bytes - 1023 * unit >= unit - unit / 20) {
		unit *= 1024;
		i++;
	}
	if (unit > UINT64_MAX / 16) { /* avoid an overflow of the multiplication by 10 */
		bytes /= 1024;
		unit /= 1024;
	}
	tenths = bytes / unit * 10 + (bytes % unit * 10 + unit / 2) / unit;
	snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 ".%u%c", tenths / 10,
		 (unsigned int)(tenths % 10), prefixes[i]);
	return buf;
}

const char *units_format_thousandths(uint64_t thousandths, char buf[UNITS_TEXT_SIZE])
{
	int length;

	if (!bytes_known(thousandths))
		return memcpy(buf, "-", 2);
	length = snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 ".%03" PRIu64,
			  thousandths / 1000, thousandths % 1000);
	while (buf[length - 1] == '0')
		buf[--length] = '\0';
	if (buf[length - 1] == '.')
		buf[--length] = '\0';
	return buf;
}

const char *units_format_change(int64_t bytes, char buf[UNITS_TEXT_SIZE])
{
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	char text[UNITS_TEXT_SIZE];

	if (bytes == 0) {
		snprintf(buf, UNITS_TEXT_SIZE, "0");
		return buf;
	}
	snprintf(buf, UNITS_TEXT_SIZE, "%c%s", bytes < 0 ? '-' : '+',
		 units_format_bytes(size, text));
	return buf;
}

const char *units_format_amount(uint64_t bytes, bool is_exact, char buf[UNITS_TEXT_SIZE])
{
	if (!is_exact || !bytes_known(bytes))
		return units_format_bytes(bytes, buf);
	snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64, bytes);
	return buf;
}

const char *units_format_duration(uint64_t ns, char buf[UNITS_TEXT_SIZE])
{
	uint64_t s = ns / NS_PER_S;

	if (ns < NS_PER_US)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 "ns", ns);
	else if (ns < NS_PER_MS)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 "us", ns / NS_PER_US);
	else if (ns < NS_PER_S)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 ".%" PRIu64 "ms",
			 ns / NS_PER_MS, ns / (NS_PER_MS / 10) % 10);
	else if (s < 60)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 ".%" PRIu64 "s", s,
			 ns / (NS_PER_S / 10) % 10);
	else if (s < 3600)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 "m%02" PRIu64 "s", s / 60,
			 s % 60);
	else if (s < 86400)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 "h%02" PRIu64 "m", s / 3600,
			 s / 60 % 60);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRIu64 "d%02" PRIu64 "h", s / 86400,
			 s / 3600 % 24);
	return buf;
}

unsigned int units_per_mille(uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return 0;
	if (part > UINT64_MAX / 1001) {
		part /= 1024;
		whole /= 1024;
	}
	return whole ? (unsigned int)((part * 1000 + whole / 2) / whole) : 0;
}

const char *units_format_rate(int64_t bytes_per_hour, int64_t unit_of,
			      char buf[UNITS_TEXT_SIZE])
{
	int64_t size = llabs(unit_of), parts = 1;
	const char *unit = "/h";
	size_t length;

	if (size / 3600 >= (int64_t)MIB) {
		parts = 3600;
		unit = "/s";
	} else if (size / 60 >= (int64_t)MIB) {
		parts = 60;
		unit = "/min";
	}
	units_format_change(bytes_per_hour / parts, buf);
	length = strlen(buf);
	memcpy(buf + length, unit, strlen(unit) + 1);
	return buf;
}

static const struct units_rate rate_units[] = {
	{ "B/h", 1 },
	{ "K/h", 1024 },
	{ "M/h", (double)MIB },
	{ "M/min", 60.0 * (double)MIB },
	{ "M/s", 3600.0 * (double)MIB },
	{ "G/s", 3600.0 * 1024 * (double)MIB },
	{ "T/s", 3600.0 * 1024 * 1024 * (double)MIB },
};

const struct units_rate *units_find_rate(int64_t bytes_per_hour)
{
	double size = fabs((double)bytes_per_hour);
	size_t i = sizeof(rate_units) / sizeof(rate_units[0]) - 1;

	if (bytes_per_hour == 0)
		size = (double)MIB;
	while (i > 0 && size < rate_units[i].bytes_per_hour)
		i--;
	return &rate_units[i];
}

const char *units_format_rate_in(int64_t bytes_per_hour, const struct units_rate *unit,
				 char buf[UNITS_TEXT_SIZE])
{
	double rate = fabs((double)bytes_per_hour) / unit->bytes_per_hour;
	char sign = bytes_per_hour < 0 ? '-' : '+';

	if (bytes_per_hour == 0)
		snprintf(buf, UNITS_TEXT_SIZE, "0");
	else if (rate < 0.0005)
		snprintf(buf, UNITS_TEXT_SIZE, "%c<0.001", sign);
	else if (rate < 0.9995)
		snprintf(buf, UNITS_TEXT_SIZE, "%c%.3f", sign, rate);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%c%.1f", sign, rate);
	return buf;
}
