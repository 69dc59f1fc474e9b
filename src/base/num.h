/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * num - numbers from text, strictly: the whole text must be one number in range.
 *
 * Every function returns 0, -EINVAL (not a number) or -ERANGE, and leaves *ret alone on failure.
 */
#ifndef MS_BASE_NUM_H
#define MS_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits only: no sign, blank, or prefix. */
int num_parse_u64(const char *text, uint64_t *ret);

/* Hexadecimal digits only, with or without a 0x before them. */
int num_parse_hex(const char *text, uint64_t *ret);

/* As num_parse_u64(), 1 to the largest pid the kernel can have (2^22). */
int num_parse_pid(const char *text, int *ret_pid);

/*
 * Decimal digits with an optional fraction, to thousandths ("0.5" is 500); more digits
 * are refused.
 */
int num_parse_thousandths(const char *text, uint64_t *ret);

#endif
