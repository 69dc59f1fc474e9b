/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench - what the measuring programs share. They end themselves with a message when they cannot go on.
 */
#ifndef MS_BENCH_H
#define MS_BENCH_H

#include <stddef.h>
#include <stdint.h>

void bench_die(const char *what) __attribute__((noreturn));

/* Monotonic clock, and CPU time of this process. */
uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);

void bench_sleep_us(unsigned int us);

/* A positive number from the command line. */
unsigned long bench_number(const char *text);

/* Sorts the values. */
double bench_median(double *values, size_t count);

/* Run this process on one CPU, counted from 0; on machines with fewer it runs where it likes. */
void bench_pin(int cpu);

/*
 * The yardstick: open /proc/PID/FILE, read it to its end with a buffer of this size, close. Returns the
 * number of bytes, 0 if it cannot be read.
 */
size_t bench_read_bare(int pid, const char *file, char *buffer, size_t size);

/*
 * Private anonymous memory of this many mappings and about so many resident bytes, without huge pages.
 * Returns its first address, and its size, which is more when there are more mappings than pages.
 */
char *bench_make_mappings(size_t mapping_count, size_t resident_bytes, size_t *ret_size);

#endif
