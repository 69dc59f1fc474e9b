/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench - functions that the benchmark programs share. On an error they print a
 * message and end the program.
 */
#ifndef MS_BENCH_H
#define MS_BENCH_H

#include <stddef.h>
#include <stdint.h>

void bench_die(const char *what) __attribute__((noreturn));

/* Return the monotonic time, and the CPU time of this process. */
uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);

void bench_sleep_us(unsigned int us);

/* Return the positive number in text. */
unsigned long bench_number(const char *text);

/* Return the median, and sort the values. */
double bench_median(double *values, size_t count);

/*
 * Run this process on one CPU, counted from 0. The call has no effect if
 * the machine has fewer CPUs.
 */
void bench_pin(int cpu);

/*
 * The baseline: open /proc/PID/FILE, read it to its end with a buffer of this size, close
 * it. Return the number of bytes, or 0 if it cannot be read.
 */
size_t bench_read_bare(int pid, const char *file, char *buffer, size_t size);

/*
 * Make private anonymous memory with this many mappings and about this many resident
 * bytes, without huge pages. Return its first address, and in *ret_size its size. The
 * size is larger than resident_bytes if there are more mappings than pages.
 */
char *bench_make_mappings(size_t mapping_count, size_t resident_bytes, size_t *ret_size);

#endif
