/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit - the headers that every unit test needs. cmocka.h
 * requires some of them before it.
 */
#ifndef MS_TESTS_UNIT_H
#define MS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define KIB(n) (UINT64_C(1024) * (n))

/*
 * Name the table row that failed: cmocka itself reports only the line of the assertion.
 */
#define assert_row(condition, row)                                 \
	do {                                                       \
		if (!(condition))                                  \
			fail_msg("%s: not %s", (row), #condition); \
	} while (0)

#endif
