/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/options.h"

#include <errno.h>
#include <string.h>

#include "render/profile/report.h"

#define MEMBER(member) offsetof(struct count_options, member)

const struct count_options count_defaults = {
	.method = COUNT_AUTO,
	.iterations = 1,
};

bool count_records_stacks(const struct options *o)
{
	const struct count_options *own = count_options(o);

	return own->stacks || own->live || own->sample_bytes > 0;
}

bool count_has_stacks(const struct options *o)
{
	return count_options(o)->replay || count_records_stacks(o);
}

static int set_method(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	for (int i = 0; i <= COUNT_METHOD_COUNT_; i++)
		if (strcmp(arg, count_method_names[i]) == 0) {
			((struct count_options *)o)->method = (enum count_method)i;
			return 0;
		}
	return -EINVAL;
}

const struct option_row count_own_rows[] = {
	{ 0, "preload", "ALLOCATOR[:NAME=VALUE...]",
	  "run the command with this allocator: glibc, jemalloc, tcmalloc, "
	  "tcmalloc_minimal, mimalloc, or a path",
	  .set = option_set_word, .value = MEMBER(common.preload) },
	{ 0, "runs", "N",
	  "count N runs, one after the other, and show in what they differ (default "
	  "3 with --check, 1 of each size with --scale)",
	  .flag = MEMBER(common.has_run_count), .set = option_set_number,
	  .value = MEMBER(common.run_count), .min = 1, .max = 1000,
	  .want = "a number from 1 to 1000" },
	{ 0, "warm-up", "N", "N more before them that do not count (default 0)",
	  .set = option_set_number, .value = MEMBER(common.warm_up_count), .max = 1000,
	  .want = "a number from 0 to 1000" },
	{ 0, "check", "FILE",
	  "hold runs against the limits in this file: end with status 4 if one is "
	  "broken, with 125 if that cannot be told",
	  .set = option_set_word, .value = MEMBER(check) },
	{ 0, "test", "NAME",
	  "the limits of that name in the file (default: the program's name)",
	  .needs = "check", .set = option_set_word, .value = MEMBER(test) },
	{ 0, "update", NULL,
	  "set the limits to what the runs have, and add what is missing",
	  .needs = "check", .flag = MEMBER(update) },
	{ 0, "sizes", "N[,...]", "sizes of --scale, 4 or more", .needs = "scale",
	  .set = option_set_word, .value = MEMBER(sizes) },
	{ 0, "max-exponent", "X",
	  "of --scale: end with status 4 if something grows faster than with the "
	  "size to this power",
	  .needs = "scale", .flag = MEMBER(has_max_exponent),
	  .set = option_set_thousandths, .value = MEMBER(max_exponent_thousandths),
	  .want = "a number, as 1 or 1.25" },
	{ 0, "min", "PERCENT",
	  "of functions and stacks, what has a smaller share is not shown (default "
	  "1; 0 in CSV and JSON)",
	  .flag = MEMBER(has_min), .set = option_set_thousandths, .value = MEMBER(min),
	  .max = PROFILE_MIN_UNIT, .want = "a percentage from 0 to 100" },
	{ 0, "folded", "FILE",
	  "write the stacks as lines too, as flamegraph.pl reads them; - is "
	  "standard output, instead of the report",
	  .set = option_set_word, .value = MEMBER(folded) },
	{ 0, "speedscope", "FILE", "write them as speedscope's JSON, likewise",
	  .set = option_set_word, .value = MEMBER(speedscope) },
	{ 0, "calls-only", NULL,
	  "count calls and requested bytes, and nothing else: it slows the command "
	  "down less",
	  .flag = MEMBER(calls_only) },
	{ 0, "iterations", "K",
	  "a run does the same work K times: show, and check, what one of them has",
	  .set = option_set_number, .value = MEMBER(iterations), .min = 1,
	  .max = 1000000000, .want = "a number from 1 to 1000000000" },
	{ 0, "scale", "COMMAND",
	  "run this shell command with each of --sizes in place of {N}, and say how "
	  "what it allocates grows with it",
	  .set = option_set_word, .value = MEMBER(scale) },
	{ 0, "probe", "auto|inject|bpf|perf",
	  "with -p: how the process is counted: by a probe that is put into it, or "
	  "by breakpoints at which the kernel counts, with BPF or without (default "
	  "auto: the first of these that can be had)",
	  .set = set_method, .want = "auto, inject, bpf or perf" },
	{ 0, "stacks", NULL,
	  "by the stack that each allocation is made from: functions, those that "
	  "were compiled into others too, with their source lines",
	  .flag = MEMBER(stacks) },
	{ 0, "sample", "BYTES",
	  "the stack of one allocation of so many bytes, chosen at random, and "
	  "estimates of all: at next to no cost with 512K",
	  .set = option_set_bytes, .value = MEMBER(sample_bytes), .min = 1,
	  .want = "bytes, as 64K or 512K" },
	{ 0, "live", NULL,
	  "by stacks, and of each what is not freed, and what it had when all had most",
	  .flag = MEMBER(live) },
	{ 0, "record", "FILE",
	  "save the allocations by stacks, as pprof reads them (gzipped profile.proto)",
	  .set = option_set_word, .value = MEMBER(record) },
	{ 0, "replay", "FILE",
	  "show the allocations by stacks that are in this file, of pprof or as "
	  "lines of folded stacks, instead of counting",
	  .set = option_set_word, .value = MEMBER(replay) },
	{ 0 },
};
