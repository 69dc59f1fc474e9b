/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * num - strict conversion of text to numbers: the whole text must be one number in range.
 *
 * All functions return 0, -EINVAL (not a number) or -ERANGE, and leave *ret
 * unchanged on failure.
 */
#ifndef MS_BASE_NUM_H
#define MS_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

/* Parse decimal digits: no sign, blank or prefix. */
int num_parse_u64(const char *text, uint64_t *ret);

/* Parse hexadecimal digits, with an optional 0x prefix. */
int num_parse_hex(const char *text, uint64_t *ret);

/* Parse a pid like num_parse_u64(), from 1 to the kernel's maximum pid (2^22). */
int num_parse_pid(const char *text, int *ret_pid);

/*
 * Parse a decimal number with up to three digits of fraction, in thousandths: "0.5" is
 * 500. More digits are an error.
 */
int num_parse_thousandths(const char *text, uint64_t *ret);

#endif
