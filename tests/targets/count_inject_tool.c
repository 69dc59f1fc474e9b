/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inject_tool - inject the counting probe into a process, read it, remove it;
 * optionally get killed on the way.
 *
 * "count_inject_tool [OPTION VALUE]… PID" prints one line of JSON per cycle,
 * with the names of its steps.
 *
 *   -n CYCLES
 *   -k STEP   kill itself at this step; steps count from 1 to the end of each cycle,
 *             and a retry repeats the numbers of the previous try
 *   -z STEP   send itself SIGSTOP at this step
 *   -l MS     how long to wait for a safe moment
 *   -s BYTES  take stacks, one per this many bytes; 0: at each allocation
 *   -w 1      print "held" before closing, then the counts for each line on
 *             standard input until its end
 *
 * "count_inject_tool layout" prints where the fields of the hooks are, as JSON.
 */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/count/hooks.h"
#include "base/strbuf.h"
#include "probe/count/inject.h"
#include "proc/process/stat.h"
#include "proc/smaps/smaps.h"

static struct {
	unsigned long pid, cycles, kill_step, stop_step, limit_ms, holds, takes_stacks,
		sample_bytes;
} options = { .cycles = 1, .limit_ms = 5000 };

static unsigned long number_of(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end)
		exit(99);
	return value;
}

static void read_options(int argc, char **argv)
{
	int letter;

	while ((letter = getopt(argc, argv, "n:k:z:l:s:w:")) > 0) {
		switch (letter) {
		case 'n': options.cycles = number_of(optarg); break;
		case 'k': options.kill_step = number_of(optarg); break;
		case 'z': options.stop_step = number_of(optarg); break;
		case 'l': options.limit_ms = number_of(optarg); break;
		case 's':
			options.takes_stacks = 1;
			options.sample_bytes = number_of(optarg);
			break;
		case 'w': options.holds = number_of(optarg); break;
		default: exit(99);
		}
	}
	if (optind + 1 != argc)
		exit(99);
	options.pid = number_of(argv[optind]);
}

enum {
	STEPS_MAX = 1024,
	TRY_STEPS = 2
};

struct cycle {
	unsigned long step_count, try_start;
	const char *phase;
	struct {
		const char *phase, *name;
	} steps[STEPS_MAX];
};

static void step(void *context, const char *name)
{
	struct cycle *cycle = context;
	unsigned long number;

	/* a retry: the previous try only looked at a stopped thread */
	if (strcmp(name, "seize") == 0) {
		if (cycle->step_count - cycle->try_start <= TRY_STEPS)
			cycle->step_count = cycle->try_start;
		cycle->try_start = cycle->step_count;
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
}

static void print_sums(const struct count_sums *sums)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		printf("\"%s\": %" PRIu64 ", ", counted_call_names[i], sums->calls[i]);
	printf("\"bytes\": %" PRIu64, sums->requested_bytes);
}

/*
 * Print each node with a count: its stack, innermost first, as
 * file and address in the file.
 */
static void print_stacks(void *state)
{
	struct stacks stacks;
	const char *comma = "";
	int r = count_backend_inject.read_stacks(state, &stacks);

	printf(", \"stacks_read\": %d", r);
	if (r != 0)
		return;
	printf(", \"cut\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"samples\": %" PRIu64
	       ", \"stacks\": [",
	       stacks.cut_count, stacks.lost_count, stacks.sample_count);
	for (size_t i = 1; i < stacks.node_count; i++) {
		const struct stack_node *node = &stacks.nodes[i];

		if (node->values[PROFILE_ALLOCATIONS] == 0)
			continue;
		printf("%s{\"allocations\": %" PRIu64 ", \"bytes\": %" PRIu64
		       ", \"frames\": [",
		       comma, node->values[PROFILE_ALLOCATIONS],
		       node->values[PROFILE_BYTES]);
		for (uint32_t n = (uint32_t)i; n; n = stacks.nodes[n].parent)
			printf("%s%" PRIu64, n == i ? "" : ", ", stacks.nodes[n].pc);
		printf("]}");
		comma = ", ";
	}
	printf("]");
	stacks_release(&stacks);
}

static void print_counts(void *state)
{
	struct count_program program = { .pid = (int)options.pid };
	int r = count_backend_inject.read(state, &program);

	printf("{\"read\": %d, \"sums\": {", r);
	print_sums(&program.sums);
	printf("}, \"allocator\": \"%s\", \"lost\": %" PRIu64 ", \"threads\": [",
	       program.allocator, program.lost_threads);
	for (size_t i = 0; i < program.listed_count; i++) {
		printf("%s{\"tid\": %d, \"main\": %d, \"name\": \"%s\", ", i ? ", " : "",
		       program.threads[i].tid, program.threads[i].is_main,
		       program.threads[i].name);
		print_sums(&program.threads[i].sums);
		printf("}");
	}
	printf("]");
	if (options.takes_stacks)
		print_stacks(state);
	printf("}\n");
	fflush(stdout);
	free(program.threads);
}

static void hold(void *state)
{
	char line[64];

	if (!options.holds)
		return;
	printf("held\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		print_counts(state);
}

static int add_mapping(void *context, struct mapping *m)
{
	mapping_list_add(context, m);
	return 0;
}

static int open_it(const struct count_request *request, void **ret, struct strbuf *why)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct count_place place = { .request = request, .mappings = &mappings };
	struct smaps_reader reader;
	uint64_t unused;
	int r;

	place.process_fd = procfs_open_file(request->fs, request->pid, "");
	smaps_reader_init(&reader);
	r = proc_smaps_read(&reader, request->fs, request->pid, add_mapping, &mappings,
			    &unused);
	smaps_reader_release(&reader);
	if (r == 0)
		r = count_backend_inject.open(&place, ret, why);
	mapping_list_release(&mappings);
	if (place.process_fd >= 0)
		close(place.process_fd);
	return r;
}

static void print_cost(const char *key, void *state)
{
	struct count_inject_cost cost = count_inject_cost(state);

	printf("\"%s_stops\": %u, \"%s_stopped_ns\": %" PRIu64 ", \"%s_tries\": %u, "
	       "\"%s_pauses\": %u, \"%s_paused_ns\": %" PRIu64 ", ",
	       key, cost.one.stops, key, cost.one.stopped_ns, key, cost.one.tries, key,
	       cost.pauses, key, cost.paused_ns);
}

static void do_cycle(const struct procfs *fs, const struct process *process)
{
	static struct cycle cycle;
	const struct count_request request = {
		.fs = fs,
		.pid = process->pid,
		.start_ticks = process->start_ticks,
		.limit_ns = options.limit_ms * 1000000U,
		.wants_stacks = options.takes_stacks,
		.sample_bytes = options.sample_bytes,
		.step = step,
		.context = &cycle,
	};
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, how = STRBUF_INIT,
				       unseen = STRBUF_INIT;
	void *state = NULL;
	int r;

	cycle = (struct cycle){ .phase = "open" };
	r = open_it(&request, &state, &why);
	if (r == 0)
		hold(state);
	printf("{\"open\": %d, \"open_reason\": \"%s\", ", r, strbuf_text(&why));
	if (r == 0) {
		print_cost("open", state);
		strbuf_clear(&why);
		count_backend_inject.add_description(state, &how);
		count_backend_inject.add_unseen(state, &unseen);
		cycle.phase = "close";
		cycle.try_start = cycle.step_count;
		r = count_backend_inject.close(state, &why);
		printf("\"close\": %d, \"close_reason\": \"%s\", \"how\": \"%s\", \"blind\": \"%s\", ",
		       r, strbuf_text(&why), strbuf_text(&how), strbuf_text(&unseen));
	}
	printf("\"steps\": [");
	for (unsigned long i = 0; i < cycle.step_count && i < STEPS_MAX; i++)
		printf("%s\"%s: %s\"", i ? ", " : "", cycle.steps[i].phase,
		       cycle.steps[i].name);
	printf("]}\n");
	fflush(stdout);
}

static int print_layout(void)
{
	return printf("{\"owner\":%zu,\"gates\":%zu,\"offsets\":%zu,\"records\":%u,"
		      "\"private\":%u,\"range\":%u}\n",
		      offsetof(struct hooks_head, owner_pid),
		      offsetof(struct hooks_head, gates_addr),
		      offsetof(struct hooks_head, offsets), HOOKS_RECORDS_OFFSET,
		      HOOKS_PRIVATE_OFFSET, HOOKS_BYTES) < 0;
}

int main(int argc, char **argv)
{
	struct procfs fs = PROCFS_INIT;
	struct process process;

	if (argc == 2 && strcmp(argv[1], "layout") == 0)
		return print_layout();
	read_options(argc, argv);
	if (procfs_open(&fs, "/proc") || proc_stat_read(&fs, (int)options.pid, &process))
		return 99;
	for (unsigned long i = 0; i < options.cycles; i++)
		do_cycle(&fs, &process);
	procfs_release(&fs);
	return 0;
}
