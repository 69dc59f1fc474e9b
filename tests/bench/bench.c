/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../targets/proc_file.h"

#define PAGE_SIZE 4096

void bench_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t bench_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_sleep_us(unsigned int us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

unsigned long bench_number(const char *text)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || end == text || *end || number == 0) {
		errno = EINVAL;
		bench_die(text);
	}
	return number;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2]
			 : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		fprintf(stderr, "cannot pin to CPU %d: %s\n", cpu, strerror(errno));
}

size_t bench_read_bare(int pid, const char *file, char *buffer, size_t size)
{
	int fd = open_proc_file(pid, file);
	size_t total = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while ((n = read(fd, buffer, size)) > 0)
		total += (size_t)n;
	close(fd);
	return total;
}

char *bench_make_mappings(size_t mapping_count, size_t resident_bytes, size_t *ret_size)
{
	size_t each = resident_bytes / mapping_count / PAGE_SIZE * PAGE_SIZE;
	size_t touched, total;
	char *at;

	if (each == 0)
		each = PAGE_SIZE;
	total = each * mapping_count;
	touched = resident_bytes < total ? resident_bytes : total;
	at = mmap(NULL, total, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		bench_die("mmap");
	if (madvise(at, total, MADV_NOHUGEPAGE) < 0)
		bench_die("madvise");
	/*
	 * give every second mapping another flag, so that the kernel does not merge them
	 */
	for (size_t i = 1; i < mapping_count; i += 2)
		if (madvise(at + i * each, each, MADV_DONTDUMP) < 0)
			bench_die("madvise");
	for (size_t offset = 0; offset < touched; offset += PAGE_SIZE)
		at[offset] = 1;
	*ret_size = total;
	return at;
}
