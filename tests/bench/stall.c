/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall ROUNDS SECONDS MAPPINGS MIB PHASE... - measure how reading
 * affects a target that maps often.
 *
 * The target has this much memory and keeps mapping 64 KiB, touching and unmapping them.
 * Each phase runs one reader beside it for SECONDS. All phases run in turn, ROUNDS
 * times, each after a phase without a reader. The output has the medians over the
 * rounds: operations per second relative to no reader, and the 99.99th percentile and
 * maximum of an operation's time.
 *
 * A PHASE is none (the noise of the machine), bare (a bare loop over smaps with 3 KiB),
 * rollup, unpaced or paced (memstate's smaps reader), each with a rate as in paced:20.
 * The phase series is a memstate that writes CSV with its default settings; the
 * environment variable MEMSTATE names the program.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "proc/smaps/smaps.h"

#define AREA_SIZE 65536
#define PHASES_MAX 8
#define BUCKET_NS 100
#define BUCKET_COUNT 1000000 /* covers up to 100 ms */

struct phase {
	char how[16];
	double hz;
	double *ops, *high_us, *worst_us;
};

struct latencies {
	unsigned int buckets[BUCKET_COUNT];
	uint64_t count, worst_ns;
};

static int ignore_mapping(void *context, struct mapping *m)
{
	(void)context;
	(void)m;
	return 0;
}

static void read_ours(bool is_paced, int pid)
{
	static struct smaps_reader reader;
	static struct procfs fs = PROCFS_INIT;
	uint64_t read_ns;

	if (fs.fd < 0) {
		if (procfs_open(&fs, "/proc") < 0)
			bench_die("/proc");
		smaps_reader_init(&reader);
		reader.is_paced = is_paced;
	}
	(void)proc_smaps_read(&reader, &fs, pid, ignore_mapping, NULL, &read_ns);
}

static void read_once(const char *how, int pid)
{
	static char buffer[4096];

	if (strcmp(how, "none") == 0)
		return;
	if (strcmp(how, "bare") == 0)
		bench_read_bare(pid, "smaps", buffer, 3072);
	else if (strcmp(how, "rollup") == 0)
		bench_read_bare(pid, "smaps_rollup", buffer, sizeof(buffer));
	else
		read_ours(strcmp(how, "paced") == 0, pid);
}

static void read_for_ever(const struct phase *phase, int pid)
{
	uint64_t interval_ns = (uint64_t)(1e9 / phase->hz);
	uint64_t due_ns = bench_now_ns();

	bench_pin(1);
	for (;;) {
		uint64_t now_ns;

		read_once(phase->how, pid);
		due_ns += interval_ns;
		now_ns = bench_now_ns();
		if (now_ns < due_ns)
			bench_sleep_us((unsigned int)((due_ns - now_ns) / 1000));
		else
			due_ns = now_ns;
	}
}

static void become_series(int pid)
{
	const char *memstate = getenv("MEMSTATE");
	int null = open("/dev/null", O_RDWR);
	char number[16];

	if (!memstate || null < 0)
		bench_die("MEMSTATE");
	bench_pin(1);
	dup2(null, STDOUT_FILENO);
	snprintf(number, sizeof(number), "%d", pid);
	execl(memstate, memstate, "--csv", "-p", number, (char *)NULL);
	bench_die(memstate);
}

/*
 * Start the phase's reader. It unmaps the target's memory first, because pages that are
 * shared with it would behave differently.
 */
static pid_t start_reader(const struct phase *phase, char *memory, size_t bytes)
{
	int target = getpid();
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	munmap(memory, bytes);
	if (strcmp(phase->how, "series") == 0)
		become_series(target);
	read_for_ever(phase, target);
	_exit(0);
}

static void work(struct latencies *l, double seconds)
{
	uint64_t now_ns = bench_now_ns();
	uint64_t end_ns = now_ns + (uint64_t)(seconds * 1e9);

	memset(l, 0, sizeof(*l));
	while (now_ns < end_ns) {
		char *area = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t before_ns = now_ns, took_ns, bucket;

		if (area == MAP_FAILED)
			bench_die("mmap");
		area[0] = 1;
		munmap(area, AREA_SIZE);
		now_ns = bench_now_ns();
		took_ns = now_ns - before_ns;
		bucket = took_ns / BUCKET_NS;
		l->buckets[bucket < BUCKET_COUNT ? bucket : BUCKET_COUNT - 1]++;
		l->count++;
		if (took_ns > l->worst_ns)
			l->worst_ns = took_ns;
	}
}

static double percentile_us(const struct latencies *l, double share)
{
	uint64_t wanted = (uint64_t)((double)l->count * share), seen = 0;
	size_t bucket = 0;

	while (bucket < BUCKET_COUNT && (seen += l->buckets[bucket]) <= wanted)
		bucket++;
	return (double)bucket * BUCKET_NS / 1e3;
}

static void touch(char *memory, size_t bytes)
{
	for (size_t offset = 0; offset < bytes; offset += 4096)
		memory[offset] = 1;
}

static void run_phase(struct phase *phase, size_t round, char *memory, size_t bytes,
		      double seconds)
{
	static struct latencies alone, beside;
	pid_t reader;

	work(&alone, seconds / 2);
	reader = start_reader(phase, memory, bytes);
	/* until the reader has unmapped the memory or executed memstate */
	bench_sleep_us(100000);
	touch(memory, bytes); /* fork() has write-protected the pages */
	work(&beside, seconds);
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	phase->ops[round] =
		(double)beside.count / seconds / ((double)alone.count / (seconds / 2));
	phase->high_us[round] = percentile_us(&beside, 0.9999);
	phase->worst_us[round] = (double)beside.worst_ns / 1e3;
}

static void parse_phase(const char *text, struct phase *phase, size_t rounds)
{
	phase->hz = 1;
	if (sscanf(text, "%15[a-z]:%lf", phase->how, &phase->hz) < 1)
		bench_die(text);
	phase->ops = calloc(rounds, sizeof(double));
	phase->high_us = calloc(rounds, sizeof(double));
	phase->worst_us = calloc(rounds, sizeof(double));
}

int main(int argc, char **argv)
{
	struct phase phases[PHASES_MAX];
	size_t rounds, count = (size_t)(argc > 5 ? argc - 5 : 0), bytes;
	char *memory;

	if (count == 0 || count > PHASES_MAX) {
		fputs("usage: stall ROUNDS SECONDS MAPPINGS MIB PHASE...\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[1]);
	for (size_t i = 0; i < count; i++)
		parse_phase(argv[i + 5], &phases[i], rounds);
	memory = bench_make_mappings(bench_number(argv[3]), bench_number(argv[4]) << 20,
				     &bytes);
	bench_pin(0);
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++)
			run_phase(&phases[i], round, memory, bytes,
				  (double)bench_number(argv[2]));
	for (size_t i = 0; i < count; i++)
		printf("%8.3f x operations %9.0f us p99.99 %9.0f us worst  %s\n",
		       bench_median(phases[i].ops, rounds),
		       bench_median(phases[i].high_us, rounds),
		       bench_median(phases[i].worst_us, rounds), argv[i + 5]);
	return 0;
}
