/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject PID ROUNDS - measure how long a thread of a process is stopped while the
 * helper is injected and while it is removed. Prints the medians, the 99th
 * percentiles, and the number of stops.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench.h"
#include "probe/helper/probe.h"
#include "proc/process/stat.h"

#define SAFE_MOMENT_NS UINT64_C(10000000000)

struct side {
	const char *name;
	double *stopped_ms;
	unsigned long stop_count;
};

static void add(struct side *side, unsigned long round, const struct probe_cost *cost)
{
	side->stopped_ms[round] = (double)cost->stopped_ns / 1e6;
	side->stop_count += cost->stops;
}

static void say(const struct side *side, unsigned long rounds)
{
	double median_ms = bench_median(side->stopped_ms, rounds);

	printf("%9.3f ms median, %.3f ms p99 of %lu, %.1f stops  %s\n", median_ms,
	       side->stopped_ms[rounds * 99 / 100], rounds,
	       (double)side->stop_count / (double)rounds, side->name);
}

static void check(int r, const char *what, const char *reason)
{
	if (r == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, reason ? reason : strerror(-r));
	bench_die(what);
}

int main(int argc, char **argv)
{
	unsigned long pid = argc == 3 ? bench_number(argv[1]) : 0;
	unsigned long rounds = argc == 3 ? bench_number(argv[2]) : 0;
	struct side in = { .name = "the helper is put in" };
	struct side out = { .name = "the helper is taken out" };
	struct procfs fs = PROCFS_INIT;
	struct process process;

	if (!pid)
		bench_die("usage: inject PID ROUNDS");
	check(procfs_open(&fs, "/proc"), "/proc", NULL);
	check(proc_stat_read(&fs, (int)pid, &process), argv[1], NULL);
	in.stopped_ms = xcalloc(rounds, sizeof(double));
	out.stopped_ms = xcalloc(rounds, sizeof(double));
	for (unsigned long i = 0; i < rounds; i++) {
		const struct probe_request request = {
			.fs = &fs,
			.pid = process.pid,
			.start_ticks = process.start_ticks,
			.may_inject = true,
			.limit_ns = SAFE_MOMENT_NS,
		};
		struct probe_cost cost = { 0 };
		const char *reason = NULL;
		struct probe *probe;

		check(probe_open(&request, &probe, &cost, &reason), "put in", reason);
		add(&in, i, &cost);
		cost = (struct probe_cost){ 0 };
		check(probe_close(probe, &cost, &reason), "take out", reason);
		add(&out, i, &cost);
	}
	say(&in, rounds);
	say(&out, rounds);
	procfs_release(&fs);
	return 0;
}
