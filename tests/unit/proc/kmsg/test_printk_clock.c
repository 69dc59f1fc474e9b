/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timestamps of the kernel log, compared with records that the test writes to the log. */
#include "config.h"

#include "proc/kmsg/printk_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "../../support/unit.h"

/* the stamp has a resolution of 1 us; the rest is the error of the measurement */
#define TOLERANCE_NS 20000
#define RECORD_MAX 8192
#define TRIES 10

/* Read records until one contains text. Return its timestamp in us, or 0. */
static uint64_t read_stamp(int fd, const char *text)
{
	char record[RECORD_MAX];
	unsigned long long stamp_us;
	ssize_t n;

	while ((n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		if (strstr(record, text) &&
		    sscanf(record, "%*u,%*u,%llu", &stamp_us) == 1)
			return stamp_us;
	}
	return 0;
}

static void a_timestamp_is_between_the_times_before_and_after_the_record(void **state)
{
	_cleanup_close_ int fd = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int64_t ahead_ns;

	(void)state;
	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0 || printk_clock_measure(&ahead_ns) < 0)
		skip();
	for (int i = 0; i < TRIES; i++) {
		char text[64];
		uint64_t before_ns, after_ns, stamp_us, ns;

		/* without a line break, a record could not be read yet */
		snprintf(text, sizeof(text), "memstate test %d: record %d\n", getpid(),
			 i);
		before_ns = clock_now_ns();
		if (write(fd, text, strlen(text)) < 0)
			skip();
		after_ns = clock_now_ns();
		stamp_us = read_stamp(fd, text);
		/* the kernel omits records that are written too fast */
		if (stamp_us == 0)
			continue;
		ns = printk_clock_to_monotonic_ns(stamp_us, ahead_ns);
		assert_in_range(ns, before_ns - TOLERANCE_NS, after_ns + TOLERANCE_NS);
		return;
	}
	skip();
}

static void the_difference_is_subtracted(void **state)
{
	(void)state;
	assert_int_equal(printk_clock_to_monotonic_ns(1000, 0), 1000000);
	assert_int_equal(printk_clock_to_monotonic_ns(1000, 400), 999600);
	assert_int_equal(printk_clock_to_monotonic_ns(1000, -400), 1000400);
	assert_int_equal(printk_clock_to_monotonic_ns(1000, 1000001), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_timestamp_is_between_the_times_before_and_after_the_record),
		cmocka_unit_test(the_difference_is_subtracted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
