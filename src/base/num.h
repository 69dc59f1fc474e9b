/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * num - strict conversion of text to numbers. The whole text must be a number in
 * range. All functions return 0, -EINVAL if the text is not a number, or -ERANGE. On
 * failure *ret is unchanged.
 */
#ifndef MS_BASE_NUM_H
#define MS_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

/* Parse a decimal number without sign, blanks or prefix. */
int num_parse_u64(const char *text, uint64_t *ret);

/* Parse a hexadecimal number, with or without the prefix 0x. */
int num_parse_hex(const char *text, uint64_t *ret);

/* Parse a pid: a decimal number from 1 to the kernel's maximum pid (2^22). */
int num_parse_pid(const char *text, int *ret_pid);

/*
 * Parse a decimal number with up to three decimals. *ret is in thousandths: "0.5" is
 * stored as 500. More than three decimals are an error.
 */
int num_parse_thousandths(const char *text, uint64_t *ret);

#endif
