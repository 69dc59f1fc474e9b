/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject_tool - inject the helper into a process, query it, remove
 * it; optionally disturb that.
 *
 * "inject_tool PID [OPTION VALUE]…" prints one line of JSON per cycle,
 * with the names of its steps.
 *
 *   -n CYCLES
 *   -k STEP       kill itself at this step; steps count from 1 to the end of each
 *                 cycle, and a retry repeats the numbers of the previous try
 *   -z STEP       send itself SIGSTOP at this step
 *   -s STEP:SIG   send SIG to the process at this step
 *   -r STEP       allow the process no more address space from this step until the
 *                 end of opening or closing
 *   -l MS         how long to wait for a safe moment
 *   -q 0|1|2      do not query, query, or query regardless of the stall it causes
 *   -f COUNT      the number of free chunks to give to the stall guard
 *   -x 1          treat any moment as safe
 *   -t TRY        print "tried" when this try to open begins
 *   -w 1          print "held" before closing, and wait for a line
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/helper/probe.h"
#include "proc/process/stat.h"

static struct {
	unsigned long pid, cycles, kill_step, stop_step, signal_step, signal_number,
		room_step, limit_ms, asks, free_chunks, trusts, holds, reported_try;
} options = { .cycles = 1, .limit_ms = 5000, .asks = 1, .free_chunks = 1000 };

static struct rlimit room_before;

static unsigned long number_of(const char **text)
{
	char *end;
	unsigned long value = strtoul(*text, &end, 10);

	if (end == *text)
		exit(99);
	*text = end;
	return value;
}

static void read_options(int argc, char **argv)
{
	int letter;

	while ((letter = getopt(argc, argv, "n:k:z:s:r:l:q:f:x:w:t:")) > 0) {
		const char *text = optarg;
		unsigned long value;

		if (letter == '?')
			exit(99);
		value = number_of(&text);
		switch (letter) {
		case 'n': options.cycles = value; break;
		case 'k': options.kill_step = value; break;
		case 'z': options.stop_step = value; break;
		case 's':
			options.signal_step = value;
			if (*text++ != ':')
				exit(99);
			options.signal_number = number_of(&text);
			break;
		case 'r': options.room_step = value; break;
		case 'l': options.limit_ms = value; break;
		case 'q': options.asks = value; break;
		case 'f': options.free_chunks = value; break;
		case 'x': options.trusts = value; break;
		case 'w': options.holds = value; break;
		case 't': options.reported_try = value; break;
		default: exit(99);
		}
	}
	if (optind + 1 == argc) {
		const char *text = argv[optind];

		options.pid = number_of(&text);
	}
}

enum {
	STEPS_MAX = 256
};

struct outcome {
	int r;
	struct probe_cost cost;
	const char *reason;
	uint64_t took_ns;
};

struct cycle {
	unsigned long step_count;
	struct {
		const char *phase, *name;
	} steps[STEPS_MAX];
	const char *phase;
	unsigned long phase_start, tries;
	struct outcome open, ask, close;
	char ask_reason[256];
	struct allocator_stats stats;
};

static void report(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

static void take_room(void)
{
	const struct rlimit none = { 4096, room_before.rlim_max };

	prlimit((pid_t)options.pid, RLIMIT_AS, &none, NULL);
}

static void give_room(void)
{
	if (options.room_step)
		prlimit((pid_t)options.pid, RLIMIT_AS, &room_before, NULL);
}

static void step(void *context, const char *name)
{
	struct cycle *cycle = context;
	unsigned long number;

	/* a retry: the previous try only looked at a stopped thread */
	if (strcmp(name, "seize") == 0) {
		cycle->step_count = cycle->phase_start;
		if (++cycle->tries == options.reported_try)
			report("tried");
	}
	number = ++cycle->step_count;
	if (number <= STEPS_MAX) {
		cycle->steps[number - 1].phase = cycle->phase;
		cycle->steps[number - 1].name = name;
	}
	if (number == options.kill_step)
		kill(getpid(), SIGKILL);
	if (number == options.stop_step)
		kill(getpid(), SIGSTOP);
	if (number == options.signal_step)
		kill((pid_t)options.pid, (int)options.signal_number);
	if (number == options.room_step)
		take_room();
}

static void print_outcome(const char *key, const struct outcome *outcome)
{
	printf("\"%s\": %d, \"%s_stops\": %u, \"%s_stopped_ns\": %" PRIu64
	       ", \"%s_tries\": %u, "
	       "\"%s_ns\": %" PRIu64 ", \"%s_in_main\": %d, ",
	       key, outcome->r, key, outcome->cost.stops, key, outcome->cost.stopped_ns,
	       key, outcome->cost.tries, key, outcome->took_ns, key,
	       !outcome->cost.in_other_thread);
	if (outcome->r)
		printf("\"%s_reason\": \"%s\", ", key,
		       outcome->reason ? outcome->reason : "");
}

static void print_cycle(const struct cycle *cycle)
{
	printf("{");
	print_outcome("open", &cycle->open);
	if (cycle->open.r == 0) {
		print_outcome("ask", &cycle->ask);
		print_outcome("close", &cycle->close);
		printf("\"live_bytes\": %" PRIu64 ", \"cost_ns\": %" PRIu64 ", ",
		       cycle->stats.live_bytes, cycle->stats.cost_ns);
	}
	printf("\"steps\": [");
	for (unsigned long i = 0; i < cycle->step_count && i < STEPS_MAX; i++)
		printf("%s\"%s: %s\"", i ? ", " : "", cycle->steps[i].phase,
		       cycle->steps[i].name);
	printf("]}\n");
	fflush(stdout);
}

static void ask(struct probe *probe, struct cycle *cycle)
{
	const struct probe_question question = {
		.limit_ns = 30000000000U,
		.allows_stall = options.asks == 2,
		.free_chunks = options.free_chunks,
	};

	if (!options.asks)
		return;
	cycle->ask.r = probe_ask(probe, &question, &cycle->stats, &cycle->ask.reason);
	if (cycle->ask.r)
		snprintf(cycle->ask_reason, sizeof(cycle->ask_reason), "%s",
			 cycle->ask.reason);
	/* the probe's own text is freed with the probe */
	cycle->ask.reason = cycle->ask_reason;
}

static void hold(void)
{
	int byte;

	if (!options.holds)
		return;
	report("held");
	do {
		byte = getchar();
	} while (byte != '\n' && byte != EOF);
}

static void do_cycle(const struct procfs *fs, const struct process *process)
{
	static struct cycle cycle;
	const struct probe_request request = {
		.fs = fs,
		.pid = process->pid,
		.start_ticks = process->start_ticks,
		.may_inject = true,
		.limit_ns = options.limit_ms * 1000000U,
		.step = step,
		.context = &cycle,
		.trusts_any_moment = options.trusts,
	};
	struct probe *probe = NULL;
	uint64_t begin_ns = clock_now_ns();

	cycle = (struct cycle){ .phase = "open" };
	cycle.open.r = probe_open(&request, &probe, &cycle.open.cost, &cycle.open.reason);
	cycle.open.took_ns = clock_now_ns() - begin_ns;
	give_room();
	if (cycle.open.r == 0) {
		ask(probe, &cycle);
		hold();
		cycle.phase = "close";
		cycle.phase_start = cycle.step_count;
		cycle.close.r =
			probe_close(probe, &cycle.close.cost, &cycle.close.reason);
		give_room();
	}
	print_cycle(&cycle);
	if (cycle.open.r == 0 && cycle.ask.r == 0)
		allocator_stats_release(&cycle.stats);
}

int main(int argc, char **argv)
{
	struct procfs fs = PROCFS_INIT;
	struct process process;

	read_options(argc, argv);
	if (procfs_open(&fs, "/proc") || proc_stat_read(&fs, (int)options.pid, &process))
		return 99;
	prlimit(process.pid, RLIMIT_AS, NULL, &room_before);
	for (unsigned long i = 0; i < options.cycles; i++)
		do_cycle(&fs, &process);
	procfs_release(&fs);
	return 0;
}
