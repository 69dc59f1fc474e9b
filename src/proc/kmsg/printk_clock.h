/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printk_clock - convert timestamps of the kernel log to CLOCK_MONOTONIC.
 *
 * The kernel stamps the records of its log with local_clock() (kernel/printk/printk.c).
 * This clock starts at boot, like CLOCK_MONOTONIC, but NTP does not correct it: at 20 ppm
 * the two clocks differ by 1.7 s after one day.
 */
#ifndef MS_PROC_KMSG_PRINTK_CLOCK_H
#define MS_PROC_KMSG_PRINTK_CLOCK_H

#include <stdint.h>

/*
 * Measure local_clock() - CLOCK_MONOTONIC in ns, and store it in *ret_ns. Return 0, or
 * -errno: -EACCES or -EPERM if the process must not use perf_event_open(2). Any thread
 * may call the function.
 */
int printk_clock_measure(int64_t *ret_ns);

/*
 * Return the difference that printk_clock_measure() measures, in ns, or 0 if the
 * measurement fails.
 */
int64_t printk_clock_ahead_ns(void);

/*
 * Convert the timestamp of a record, in us, to CLOCK_MONOTONIC in ns. ahead_ns is a
 * result of printk_clock_ahead_ns(). If ahead_ns was measured soon after the record was
 * written, the result is accurate to a few us. Otherwise the result is off by the drift
 * between the clocks since then. A timestamp before the start of CLOCK_MONOTONIC is
 * converted to 0.
 */
uint64_t printk_clock_to_monotonic_ns(uint64_t stamp_us, int64_t ahead_ns);

#endif
