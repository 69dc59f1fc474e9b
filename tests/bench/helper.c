/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper [ROUNDS] - measure the overhead of a preloaded helper.
 *
 * Run as "helper SHAPE", the program is the target: a loop of malloc and free with sizes
 * from 16 to 1000 bytes. SHAPE one keeps one block at a time, many a thousand; threads is
 * the same in a program that has a second thread. Each shape runs alternately with and
 * without the library in MEMSTATE_AGENT; the output is the median of the CPU time ratios
 * of the pairs. At the end, the program queries a waiting target, and prints the duration
 * of a query and the allocator's part of it.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench.h"
#include "probe/helper/probe.h"
#include "proc/process/stat.h"

#define BLOCKS 1000
#define LOOPS 20000
#define QUESTIONS 1000
#define LIMIT_NS (20 * NS_PER_S)

static const char *const shapes[] = { "one", "many", "threads" };

static void churn(int at_a_time)
{
	static void *volatile blocks[BLOCKS];

	for (int n = 0; n < BLOCKS * LOOPS; n += at_a_time) {
		for (int i = 0; i < at_a_time; i++)
			blocks[i] = malloc(16 + (unsigned int)(i * 7919 + n) % 985);
		for (int i = 0; i < at_a_time; i++)
			free(blocks[i]);
	}
}

static _Noreturn void *wait_for_end(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* The target program. */
static int be(const char *shape)
{
	pthread_t thread;

	alarm(60);
	if (strcmp(shape, "wait") == 0)
		wait_for_end(NULL);
	if (strcmp(shape, "threads") == 0 &&
	    pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
		bench_die("pthread_create");
	churn(strcmp(shape, "one") == 0 ? 1 : BLOCKS);
	return 0;
}

/* Start the program, with a preloaded helper unless library is NULL. */
static pid_t start(const char *program, const char *library, const char *shape)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (pid == 0) {
		if (library)
			setenv("LD_PRELOAD", library, 1);
		execl(program, "helper", shape, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static double run_ms(const char *program, const char *library, const char *shape)
{
	struct rusage usage;
	int status;
	pid_t pid = start(program, library, shape);

	if (wait4(pid, &status, 0, &usage) != pid || status != 0)
		bench_die("the program did not end well");
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void measure_shape(const char *program, const char *library, const char *shape,
			  size_t rounds)
{
	double *ratios = calloc(rounds, sizeof(*ratios)),
	       *same = calloc(rounds, sizeof(*same));
	double without = 0;

	if (!ratios || !same)
		bench_die("calloc");
	for (size_t i = 0; i < rounds; i++) {
		double first = run_ms(program, NULL, shape);
		double with = run_ms(program, library, shape);

		without = run_ms(program, NULL, shape);
		ratios[i] = 2 * with / (first + without);
		same[i] = first / without;
	}
	printf("%-8s CPU with a helper %.3f x, %.1f ns for a pair; without against without %.3f x\n",
	       shape, bench_median(ratios, rounds), without * 1e6 / BLOCKS / LOOPS,
	       bench_median(same, rounds));
	free(ratios);
	free(same);
}

static struct probe *open_probe(const struct procfs *fs, pid_t pid)
{
	struct probe_request request = { .fs = fs, .pid = pid, .limit_ns = LIMIT_NS };
	struct probe *probe;
	struct probe_cost cost;
	struct process process;
	const char *reason;

	if (proc_stat_read(fs, pid, &process) < 0)
		bench_die("stat");
	request.start_ticks = process.start_ticks;
	for (int i = 0; i < 1000; i++) {
		if (probe_open(&request, &probe, &cost, &reason) == 0)
			return probe;
		bench_sleep_us(10000);
	}
	bench_die(reason);
}

static void measure_questions(const char *program, const char *library)
{
	const struct probe_question question = { .limit_ns = LIMIT_NS };
	static double round_trips[QUESTIONS], costs[QUESTIONS];
	struct procfs fs = PROCFS_INIT;
	struct allocator_stats stats;
	struct probe_cost cost;
	struct probe *probe;
	const char *reason;
	pid_t pid = start(program, library, "wait");

	if (procfs_open(&fs, "/proc") < 0)
		bench_die("/proc");
	probe = open_probe(&fs, pid);
	for (size_t i = 0; i < QUESTIONS; i++) {
		uint64_t begin_ns = bench_now_ns();

		if (probe_ask(probe, &question, &stats, &reason) < 0)
			bench_die(reason);
		round_trips[i] = (double)(bench_now_ns() - begin_ns) / 1e3;
		costs[i] = (double)stats.cost_ns / 1e3;
		/*
		 * a helper may not be queried again before 100 times the cost has passed
		 */
		bench_sleep_us((unsigned int)(costs[i] * 100) + 1);
	}
	printf("a question: %.1f us, of which %.1f us in the allocator, medians of %d\n",
	       bench_median(round_trips, QUESTIONS), bench_median(costs, QUESTIONS),
	       QUESTIONS);
	probe_close(probe, &cost, &reason);
	procfs_release(&fs);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *library = getenv("MEMSTATE_AGENT");

	if (argc == 2 && (argv[1][0] < '0' || argv[1][0] > '9'))
		return be(argv[1]);
	if (!library)
		bench_die("MEMSTATE_AGENT names no library");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		measure_shape("/proc/self/exe", library, shapes[i],
			      argc > 1 ? bench_number(argv[1]) : 15);
	measure_questions("/proc/self/exe", library);
	return 0;
}
