/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units - bytes and times: from the kernel's units, from a person's, and back to text.
 *
 * Bytes are uint64_t everywhere. BYTES_UNKNOWN means "could not be read", travels through
 * sums, and is never shown as a number.
 */
#ifndef MS_BASE_UNITS_H
#define MS_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_UNKNOWN UINT64_MAX
#define MIB	      (UINT64_C(1) << 20)

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

static inline bool bytes_known(uint64_t bytes)
{
	return bytes != BYTES_UNKNOWN;
}

/* For sums of what is known. */
static inline uint64_t bytes_or_0(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

/* Sum; unknown if either is. A sum past 2^64-2 is unknown too. */
static inline uint64_t bytes_add(uint64_t a, uint64_t b)
{
	if (!bytes_known(a) || !bytes_known(b) || a > BYTES_UNKNOWN - 1 - b)
		return BYTES_UNKNOWN;
	return a + b;
}

/* a - b, not below 0; unknown if either is. */
static inline uint64_t bytes_sub(uint64_t a, uint64_t b)
{
	if (!bytes_known(a) || !bytes_known(b))
		return BYTES_UNKNOWN;
	return a > b ? a - b : 0;
}

/* The kernel's "kB" (1024 bytes). Returns 0, or -ERANGE with *ret_bytes untouched. */
int units_bytes_from_kib(uint64_t kib, uint64_t *ret_bytes);

/* The other way, of an amount that the kernel gave as kB: no rest. */
uint64_t units_bytes_to_kib(uint64_t bytes);

/*
 * "500ms", "2s", "1m", "1h", "1d", "0.5", "2": a bare number is seconds. Returns 0, -EINVAL,
 * -ERANGE.
 */
int units_parse_duration(const char *text, uint64_t *ret_ns);

/* "512B", "64K", "1.5M", "2G", "1T": 1024-based, the letter is needed. Returns as above. */
int units_parse_bytes(const char *text, uint64_t *ret_bytes);

/* Room for every text made below, NUL included. */
#define UNITS_TEXT_SIZE 24

/*
 * "0", "512", "1.5K", "64.0M", "1.2G": 1024-based, at most 7 columns ("1023.9K"), rounded
 * half up; "-" when unknown. Returns buf.
 */
const char *units_format_bytes(uint64_t bytes, char buf[UNITS_TEXT_SIZE]);

/* Of thousandths: "12", "12.5", "0.001"; "-" when unknown. Returns buf. */
const char *units_format_thousandths(uint64_t thousandths, char buf[UNITS_TEXT_SIZE]);

/* "+1.5M", "-64.0K", "0". Returns buf. */
const char *units_format_change(int64_t bytes, char buf[UNITS_TEXT_SIZE]);

/* "0ns", "15us", "1.5ms", "2.0s", "3m05s", "2h10m", "5d03h". Returns buf. */
const char *units_format_duration(uint64_t ns, char buf[UNITS_TEXT_SIZE]);

/* part / whole in per mille, rounded to nearest; 0 when the whole is 0. */
unsigned int units_per_mille(uint64_t part, uint64_t whole);

/*
 * "+60.1M/h", per hour, minute or second, as it is large. unit_of: the rate by which that
 * is chosen, so that rates beside each other have the same. Returns buf.
 */
const char *units_format_rate(int64_t bytes_per_hour, int64_t unit_of,
			      char buf[UNITS_TEXT_SIZE]);

#endif
