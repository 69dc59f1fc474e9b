/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attached ROUNDS MEMSTATE [OPTION...] - measure the overhead of "memstate count -p" in
 * the process it is attached to.
 *
 * The target calls malloc and free, alternately alone and counted. The output is the
 * median of the additional CPU time per call in ns, its quartiles, and the CPU time in ns
 * of a call that is not counted.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define OPTIONS_MAX 16
#define WINDOW_US 200000
#define BATCH 1000

static pid_t loop_pid;
static volatile uint64_t *calls; /* shared with the loop process */

static void loop(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (int i = 0; i < BATCH / 2; i++) {
			void *volatile p = malloc(64 + (size_t)(i & 31));

			free(p);
		}
		*calls += BATCH;
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(loop_pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		bench_die("the loop's clock");
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Return the CPU time of a call in ns. */
static double measure(void)
{
	uint64_t begin_calls = *calls, begin_ns = cpu_ns();

	bench_sleep_us(WINDOW_US);
	return (double)(cpu_ns() - begin_ns) / (double)(*calls - begin_calls + 1);
}

static pid_t start(char **argv, FILE **ret_output)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		bench_die("memstate");
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	*ret_output = fdopen(fds[0], "r");
	if (!*ret_output)
		bench_die("a pipe");
	return pid;
}

static double measure_counted(char **argv)
{
	char line[4096];
	FILE *output;
	double ns;
	pid_t pid = start(argv, &output);
	int status;

	/* the headings and a first row show that memstate is attached */
	for (int i = 0; i < 2; i++)
		if (!fgets(line, sizeof(line), output)) {
			fputs("memstate has counted nothing\n", stderr);
			exit(1);
		}
	ns = measure();
	kill(pid, SIGINT);
	while (fgets(line, sizeof(line), output))
		continue;
	fclose(output);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 0) {
		fputs("memstate has failed\n", stderr);
		exit(1);
	}
	return ns;
}

int main(int argc, char **argv)
{
	char pid[16], *command[OPTIONS_MAX + 8];
	double *plain, *more;
	size_t rounds, count = 0;

	if (argc < 3 || argc > OPTIONS_MAX)
		return 2;
	rounds = bench_number(argv[1]);
	plain = calloc(rounds, sizeof(*plain));
	more = calloc(rounds, sizeof(*more));
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (!plain || !more || calls == MAP_FAILED || (loop_pid = fork()) < 0)
		bench_die("to begin");
	if (loop_pid == 0)
		loop();
	snprintf(pid, sizeof(pid), "%d", (int)loop_pid);
	command[count++] = argv[2];
	command[count++] = (char *)"count";
	command[count++] = (char *)"-p";
	command[count++] = pid;
	command[count++] = (char *)"--csv";
	command[count++] = (char *)"-i50ms";
	for (int i = 3; i < argc; i++)
		command[count++] = argv[i];
	command[count] = NULL;
	for (size_t i = 0; i < rounds; i++) {
		plain[i] = measure();
		more[i] = measure_counted(command) - plain[i];
	}
	kill(loop_pid, SIGKILL);
	/* bench_median() sorts the values */
	printf("%.2f ", bench_median(more, rounds));
	printf("%.2f %.2f %.2f\n", more[(rounds - 1) / 4], more[(rounds - 1) * 3 / 4],
	       bench_median(plain, rounds));
	return 0;
}
