/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask_helper PID [text] [stall] - query the helper in a process as memstate does, and
 * print the answer: a line "name value" for each figure, "allocator NAME", "cost_ns
 * N", and with "text" the allocator's text. Exits with status 1 and "error ERRNO
 * reason" if there is no answer.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/units.h"
#include "probe/helper/probe.h"
#include "proc/process/stat.h"

#define LIMIT_NS (20 * NS_PER_S)

static int fail(int error, const char *reason)
{
	printf("error %s %s\n", strerrorname_np(-error), reason ? reason : "");
	return 1;
}

static void say(const struct allocator_stats *stats)
{
	printf("allocator %s\ncost_ns %" PRIu64 "\n", allocator_names[stats->allocator],
	       stats->cost_ns);
	for (size_t i = 0; i < stats->value_count; i++)
		printf("%s %" PRIu64 "\n", stats->values[i].name, stats->values[i].value);
	printf("system %" PRIu64 "\nlive %" PRIu64 "\npool %" PRIu64 "\n",
	       stats->system_bytes, stats->live_bytes, stats->pool_bytes);
	if (stats->text)
		fputs(stats->text, stdout);
}

int main(int argc, char **argv)
{
	struct probe_question question = { .limit_ns = LIMIT_NS,
					   .free_chunks = BYTES_UNKNOWN };
	struct procfs fs = PROCFS_INIT;
	struct allocator_stats stats;
	struct process process;
	struct probe_cost cost;
	struct probe *probe;
	const char *reason = NULL;
	int pid, r;

	if (argc < 2 || num_parse_pid(argv[1], &pid) < 0)
		return 2;
	for (int i = 2; i < argc; i++) {
		question.wants_text |= strcmp(argv[i], "text") == 0;
		question.allows_stall |= strcmp(argv[i], "stall") == 0;
	}
	r = procfs_open(&fs, "/proc");
	if (r == 0)
		r = proc_stat_read(&fs, pid, &process);
	if (r < 0)
		return fail(r, "stat");
	const struct probe_request request = { .fs = &fs,
					       .pid = pid,
					       .start_ticks = process.start_ticks,
					       .limit_ns = LIMIT_NS };
	r = probe_open(&request, &probe, &cost, &reason);
	if (r < 0)
		return fail(r, reason);
	r = probe_ask(probe, &question, &stats, &reason);
	if (r < 0)
		return fail(r, reason);
	say(&stats);
	allocator_stats_release(&stats);
	probe_close(probe, &cost, &reason);
	procfs_release(&fs);
	return 0;
}
