/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair ROUNDS COMMAND... - run the commands in turn, ROUNDS times, after one round to
 * warm up. Prints for each command the median CPU time and wall time of the whole
 * process, its peak Rss, and the median over the rounds of its CPU time relative to the
 * first command in the same round.
 *
 * pair -o LIBRARY PROGRAM ROUNDS COMMAND... - compare only PROGRAM (a name), which
 * each command runs. PROGRAM reports its own CPU time through LIBRARY (own_time.c),
 * or prints a line "NS ns" with the time of the measured part. The output has one
 * line of numbers for each command: the median of the ratio, its quartiles, the ratio
 * of the minima, the median in ns, and the median ratio of the CPU time of the
 * command with all its children.
 *
 * A command is one argument, split at blanks. Its output goes to /dev/null.
 */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define WORDS_MAX 32

struct figures {
	double *cpu_ms, *wall_ms, *ratio, *own_ns, *own_ratio;
	long peak_kib;
	int status;
};

static struct {
	const char *library, *program; /* NULL: only whole commands are measured */
	char path[32];		       /* the file to which the program reports */
} own = { NULL, NULL, "/tmp/bench-own-XXXXXX" };

/*
 * Run the command. The program may print its time to either stream, because memstate
 * redirects standard output to standard error.
 */
static void become(const char *command)
{
	char *words[WORDS_MAX + 1];
	size_t count = 0;
	char *text = strdup(command);
	int null = open("/dev/null", O_RDWR);
	int output = own.program ? open(own.path, O_WRONLY | O_APPEND) : null;

	if (!text || null < 0 || output < 0)
		_exit(127);
	for (char *word = strtok(text, " "); word && count < WORDS_MAX;
	     word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (own.program) {
		setenv("BENCH_PROGRAM", own.program, 1);
		setenv("BENCH_OWN_TIME", own.path, 1);
		setenv("LD_PRELOAD", own.library, 1);
	}
	execvp(words[0], words);
	_exit(127);
}

static double ms_of(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e3 + (double)tv->tv_usec / 1e3;
}

/*
 * Return the time that the program reported, or 0. A line "NS ns"
 * is preferred to its CPU time.
 */
static double read_own_ns(void)
{
	FILE *file = fopen(own.path, "r");
	double cpu_ns = 0, measured_ns = 0, ns;
	char line[4096], end;

	if (!file)
		bench_die(own.path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lf n%c", &ns, &end) == 2 && end == 's')
			measured_ns = ns;
		else if (sscanf(line, "own time %lf", &ns) == 1)
			cpu_ns = ns;
	}
	fclose(file);
	return measured_ns > 0 ? measured_ns : cpu_ns;
}

static void run(const char *command, struct figures *f, size_t round)
{
	uint64_t start_ns = bench_now_ns();
	struct rusage usage;
	pid_t pid;

	if (own.program && truncate(own.path, 0) < 0)
		bench_die(own.path);
	pid = fork();
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
	if (own.program)
		f->own_ns[round] = read_own_ns();
}

static bool has_failed(const struct figures *f, size_t rounds)
{
	for (size_t i = 0; own.program && i < rounds; i++)
		if (!(f->own_ns[i] > 0))
			return true;
	return !WIFEXITED(f->status) || WEXITSTATUS(f->status) == 127;
}

static void print(const char *command, struct figures *f, size_t rounds)
{
	printf("%9.1f ms CPU %9.1f ms wall %6.1f MiB peak %8.3f x  %s%s\n",
	       bench_median(f->cpu_ms, rounds), bench_median(f->wall_ms, rounds),
	       (double)f->peak_kib / 1024, bench_median(f->ratio, rounds), command,
	       has_failed(f, rounds) ? " (FAILED)" : "");
}

/* Return a quartile of sorted values. bench_median() leaves them sorted. */
static double quartile(const double *sorted, size_t count, unsigned int which)
{
	return sorted[(count - 1) * which / 4];
}

static void print_own(struct figures *f, const struct figures *first, size_t rounds)
{
	double median, ns;

	if (has_failed(f, rounds)) {
		puts("failed");
		return;
	}
	median = bench_median(f->own_ratio, rounds);
	ns = bench_median(f->own_ns, rounds);
	printf("%.4f %.4f %.4f %.4f %.2f %.4f\n", median,
	       quartile(f->own_ratio, rounds, 1), quartile(f->own_ratio, rounds, 3),
	       f->own_ns[0] / first->own_ns[0], ns, bench_median(f->ratio, rounds));
}

static double *make_values(size_t count)
{
	double *values = calloc(count, sizeof(*values));

	if (!values)
		bench_die("no memory");
	return values;
}

static void run_all(char **commands, struct figures *all, size_t count, size_t rounds)
{
	for (size_t c = 0; c < count; c++) {
		all[c].cpu_ms = make_values(rounds);
		all[c].wall_ms = make_values(rounds);
		all[c].ratio = make_values(rounds);
		all[c].own_ns = make_values(rounds);
		all[c].own_ratio = make_values(rounds);
		run(commands[c], &all[c], 0); /* warm up */
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t c = 0; c < count; c++) {
			run(commands[c], &all[c], round);
			all[c].ratio[round] = all[c].cpu_ms[round] / all[0].cpu_ms[round];
			all[c].own_ratio[round] =
				all[c].own_ns[round] / all[0].own_ns[round];
		}
	}
}

/* Parse -o and its arguments. Return the number of arguments used. */
static int begin_own(int argc, char **argv)
{
	int fd;

	if (argc < 4 || strcmp(argv[1], "-o") != 0)
		return 0;
	own.library = argv[2];
	own.program = argv[3];
	fd = mkstemp(own.path);
	if (fd < 0)
		bench_die(own.path);
	close(fd);
	return 3;
}

int main(int argc, char **argv)
{
	int taken = begin_own(argc, argv);
	char **commands = argv + taken + 2;
	size_t count = (size_t)(argc > taken + 2 ? argc - taken - 2 : 0), rounds;
	struct figures *all = calloc(count + 1, sizeof(*all));

	if (!all || count == 0) {
		fputs("usage: pair [-o LIBRARY PROGRAM] ROUNDS COMMAND...\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[taken + 1]);
	run_all(commands, all, count, rounds);
	for (size_t c = 0; c < count; c++) {
		if (own.program)
			print_own(&all[c], &all[0], rounds);
		else
			print(commands[c], &all[c], rounds);
	}
	if (own.program)
		unlink(own.path);
	return 0;
}
