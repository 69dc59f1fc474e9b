/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/num.h"

#include <errno.h>
#include <stddef.h>

/* The kernel's PID_MAX_LIMIT on 64-bit machines (include/linux/threads.h). */
#define PID_MAX_LIMIT 4194304

/* Parse the decimal digits at *text, and advance *text past them. */
static int parse_digits(const char **text, uint64_t *ret, unsigned int *ret_count)
{
	uint64_t value = 0;
	unsigned int count = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++, count++) {
		uint64_t digit = (uint64_t)(**text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	if (count == 0)
		return -EINVAL;
	*ret = value;
	*ret_count = count;
	return 0;
}

int num_parse_u64(const char *text, uint64_t *ret)
{
	unsigned int count;
	uint64_t value;
	int r;

	r = parse_digits(&text, &value, &count);
	if (r < 0)
		return r;
	if (*text != '\0')
		return -EINVAL;
	*ret = value;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int num_parse_hex(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (*text == '\0')
		return -EINVAL;
	for (; *text; text++) {
		int digit = hex_digit(*text);

		if (digit < 0)
			return -EINVAL;
		if (value >> 60)
			return -ERANGE;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return 0;
}

int num_parse_pid(const char *text, int *ret_pid)
{
	uint64_t value;
	int r;

	r = num_parse_u64(text, &value);
	if (r < 0)
		return r;
	if (value < 1 || value > PID_MAX_LIMIT)
		return -ERANGE;
	*ret_pid = (int)value;
	return 0;
}

int num_parse_thousandths(const char *text, uint64_t *ret)
{
	uint64_t whole, fraction = 0;
	unsigned int count;
	int r;

	r = parse_digits(&text, &whole, &count);
	if (r < 0)
		return r;
	if (*text == '.') {
		text++;
		r = parse_digits(&text, &fraction, &count);
		if (r < 0)
			return r;
		if (count > 3)
			return -EINVAL;
		for (; count < 3; count++)
			fraction *= 10;
	}
	if (*text != '\0')
		return -EINVAL;
	if (whole > (UINT64_MAX - fraction) / 1000)
		return -ERANGE;
	*ret = whole * 1000 + fraction;
	return 0;
}
