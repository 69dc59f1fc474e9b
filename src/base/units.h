/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units - convert amounts and times from the kernel's and the user's
 * units, and format them as text.
 *
 * Amounts in bytes are always uint64_t. BYTES_UNKNOWN means that a value
 * could not be read. Sums with an unknown amount are unknown, and
 * BYTES_UNKNOWN is never displayed as a number.
 */
#ifndef MS_BASE_UNITS_H
#define MS_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_UNKNOWN UINT64_MAX
#define MIB (UINT64_C(1) << 20)

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

static inline bool bytes_known(uint64_t bytes)
{
	return bytes != BYTES_UNKNOWN;
}

/* Return bytes, or 0 for BYTES_UNKNOWN. For sums in which unknown amounts count as 0. */
static inline uint64_t bytes_or_0(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

/* Return a + b, or BYTES_UNKNOWN if either is unknown or the sum exceeds 2^64-2. */
static inline uint64_t bytes_add(uint64_t a, uint64_t b)
{
	if (!bytes_known(a) || !bytes_known(b) || a > BYTES_UNKNOWN - 1 - b)
		return BYTES_UNKNOWN;
	return a + b;
}

/* Return a - b, or 0 if b is greater, or BYTES_UNKNOWN if either is unknown. */
static inline uint64_t bytes_sub(uint64_t a, uint64_t b)
{
	if (!bytes_known(a) || !bytes_known(b))
		return BYTES_UNKNOWN;
	return a > b ? a - b : 0;
}

/*
 * Convert an amount in the kernel's "kB" (1024 bytes) to bytes. Return 0, or
 * -ERANGE with *ret_bytes unchanged.
 */
int units_bytes_from_kib(uint64_t kib, uint64_t *ret_bytes);

/*
 * Convert bytes to the kernel's "kB" (1024 bytes). The conversion is exact for amounts
 * that the kernel reported in kB.
 */
uint64_t units_bytes_to_kib(uint64_t bytes);

/*
 * Parse a duration such as "15us", "500ms", "2s", "1m", "1min", "1h", "1d" or "0.5". A
 * number without a suffix is in seconds. Return 0, -EINVAL or -ERANGE.
 */
int units_parse_duration(const char *text, uint64_t *ret_ns);

/*
 * Parse an amount such as "512B", "64K", "1.5M", "2G" or "1T", in powers of 1024. The
 * suffix is required. Return 0, -EINVAL or -ERANGE.
 */
int units_parse_bytes(const char *text, uint64_t *ret_bytes);

/*
 * Parse a percentage such as "2", "12.5" or "50%", with up to three decimals. The result
 * is in thousandths of a percent.
 */
int units_parse_percent(const char *text, uint64_t *ret_thousandths);

/* Size of a buffer for the texts of the following functions, including the NUL. */
#define UNITS_TEXT_SIZE 24

/*
 * Format an amount: "0", "512", "1.5K", "64.0M", "1.2G". Prefixes are powers of 1024. The
 * text has at most 7 columns ("1023.9K"). The number is rounded half up. An unknown
 * amount is "-". Return buf.
 */
const char *units_format_bytes(uint64_t bytes, char buf[UNITS_TEXT_SIZE]);

/*
 * If is_exact is set, format the exact number of bytes, with all its digits. Otherwise
 * format the amount as units_format_bytes() does. Return buf.
 */
const char *units_format_amount(uint64_t bytes, bool is_exact, char buf[UNITS_TEXT_SIZE]);

/*
 * Format a number given in thousandths: "12", "12.5", "0.001". An unknown number
 * is "-". Return buf.
 */
const char *units_format_thousandths(uint64_t thousandths, char buf[UNITS_TEXT_SIZE]);

/* Format a difference of two amounts: "+1.5M", "-64.0K", "0". Return buf. */
const char *units_format_change(int64_t bytes, char buf[UNITS_TEXT_SIZE]);

/*
 * Format a duration: "0ns", "15us", "1.5ms", "2.0s", "3m05s", "2h10m",
 * "5d03h". Return buf.
 */
const char *units_format_duration(uint64_t ns, char buf[UNITS_TEXT_SIZE]);

/* Return part / whole in thousandths, rounded to nearest. Return 0 if whole is 0. */
unsigned int units_per_mille(uint64_t part, uint64_t whole);

/*
 * Format a rate such as "+60.1M/h". The rate is printed per second if unit_of is at least
 * 1 MiB per second, per minute if unit_of is at least 1 MiB per minute, and per hour
 * otherwise. Pass the same unit_of, in bytes per hour, for rates that are shown side by
 * side. Return buf.
 */
const char *units_format_rate(int64_t bytes_per_hour, int64_t unit_of,
			      char buf[UNITS_TEXT_SIZE]);

/* The unit, such as "M/h", in which all rates of one report are printed. */
struct units_rate {
	const char *name;
	double bytes_per_hour;
};

/*
 * Return the largest unit in which the absolute value of the rate is at least 1. Return
 * "M/h" for a rate of 0.
 */
const struct units_rate *units_find_rate(int64_t bytes_per_hour);

/*
 * Format a rate in the given unit, without the name of the unit: "+60.1", "-0.250", "0",
 * "+<0.001". A rate other than 0 is never formatted as 0. Return buf.
 */
const char *units_format_rate_in(int64_t bytes_per_hour, const struct units_rate *unit,
				 char buf[UNITS_TEXT_SIZE]);

#endif
