/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair ROUNDS COMMAND... - run the commands in turn, ROUNDS times, after one round to warm up. Prints for
 * each the median CPU time and wall time of the whole process, its peak Rss, and the median over the
 * rounds of its CPU time relative to the first command of the same round.
 *
 * A command is one argument, cut at blanks. Its output goes to /dev/null.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define WORDS_MAX 32

struct figures {
	double *cpu_ms, *wall_ms, *ratio;
	long peak_kib;
	int status;
};

static void become(const char *command)
{
	char *words[WORDS_MAX + 1];
	size_t count = 0;
	char *text = strdup(command);
	int null = open("/dev/null", O_RDWR);

	if (!text || null < 0)
		_exit(127);
	for (char *word = strtok(text, " "); word && count < WORDS_MAX; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(words[0], words);
	_exit(127);
}

static double ms_of(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e3 + (double)tv->tv_usec / 1e3;
}

static void run(const char *command, struct figures *f, size_t round)
{
	uint64_t start_ns = bench_now_ns();
	struct rusage usage;
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (pid == 0)
		become(command);
	if (wait4(pid, &f->status, 0, &usage) < 0)
		bench_die("wait");
	f->wall_ms[round] = (double)(bench_now_ns() - start_ns) / 1e6;
	f->cpu_ms[round] = ms_of(&usage.ru_utime) + ms_of(&usage.ru_stime);
	if (usage.ru_maxrss > f->peak_kib)
		f->peak_kib = usage.ru_maxrss;
}

static void print(const char *command, struct figures *f, size_t rounds)
{
	printf("%9.1f ms CPU %9.1f ms wall %6.1f MiB peak %8.3f x  %s%s\n",
	       bench_median(f->cpu_ms, rounds), bench_median(f->wall_ms, rounds),
	       (double)f->peak_kib / 1024, bench_median(f->ratio, rounds), command,
	       WIFEXITED(f->status) && WEXITSTATUS(f->status) != 127 ? "" : " (FAILED)");
}

int main(int argc, char **argv)
{
	size_t count = (size_t)(argc > 2 ? argc - 2 : 0), rounds;
	struct figures *all = calloc(count + 1, sizeof(*all));

	if (!all || count == 0) {
		fputs("usage: pair ROUNDS COMMAND...\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[1]);
	for (size_t c = 0; c < count; c++) {
		all[c].cpu_ms = calloc(rounds, sizeof(double));
		all[c].wall_ms = calloc(rounds, sizeof(double));
		all[c].ratio = calloc(rounds, sizeof(double));
		run(argv[c + 2], &all[c], 0); /* to warm up */
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t c = 0; c < count; c++) {
			run(argv[c + 2], &all[c], round);
			all[c].ratio[round] = all[c].cpu_ms[round] / all[0].cpu_ms[round];
		}
	}
	for (size_t c = 0; c < count; c++)
		print(argv[c + 2], &all[c], rounds);
	return 0;
}
