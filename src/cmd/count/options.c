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
	  "count N runs in sequence, and show how they differ (default 3 with --check, "
	  "1 per size with --scale)",
	  .flag = MEMBER(common.has_run_count), .set = option_set_number,
	  .value = MEMBER(common.run_count), .min = 1, .max = 1000,
	  .want = "a number from 1 to 1000" },
	{ 0, "warm-up", "N", "run N warm-ups first, which are not counted (default 0)",
	  .set = option_set_number, .value = MEMBER(common.warm_up_count), .max = 1000,
	  .want = "a number from 0 to 1000" },
	{ 0, "check", "FILE",
	  "check the runs against the limits in FILE: exit with status 4 if one is "
	  "exceeded, with 125 if it cannot be determined",
	  .set = option_set_word, .value = MEMBER(check) },
	{ 0, "test", "NAME",
	  "use the limits with this name in the file (default: the program's name)",
	  .needs = "check", .set = option_set_word, .value = MEMBER(test) },
	{ 0, "update", NULL,
	  "set the limits to the figures of the runs, and add missing limits",
	  .needs = "check", .flag = MEMBER(update) },
	{ 0, "sizes", "N[,...]", "the sizes for --scale, at least 4", .needs = "scale",
	  .set = option_set_word, .value = MEMBER(sizes) },
	{ 0, "max-exponent", "X",
	  "with --scale: exit with status 4 if a figure grows faster than with the "
	  "size to the power of N",
	  .needs = "scale", .flag = MEMBER(has_max_exponent),
	  .set = option_set_thousandths, .value = MEMBER(max_exponent_thousandths),
	  .want = "a number, such as 1 or 1.25" },
	{ 0, "min", "PERCENT",
	  "hide functions and stacks with a smaller share (default 1; 0 in CSV and "
	  "JSON)",
	  .flag = MEMBER(has_min), .set = option_set_thousandths, .value = MEMBER(min),
	  .max = PROFILE_MIN_UNIT, .want = "a percentage from 0 to 100" },
	{ 0, "folded", "FILE",
	  "also write the stacks as lines for flamegraph.pl; - writes them to standard "
	  "output instead of the report",
	  .set = option_set_word, .value = MEMBER(folded) },
	{ 0, "speedscope", "FILE", "the same in the JSON format of speedscope",
	  .set = option_set_word, .value = MEMBER(speedscope) },
	{ 0, "calls-only", NULL,
	  "count only calls and requested bytes: this slows the command down less",
	  .flag = MEMBER(calls_only) },
	{ 0, "iterations", "K",
	  "a run does the same work K times: show and check the figures of one "
	  "iteration",
	  .set = option_set_number, .value = MEMBER(iterations), .min = 1,
	  .max = 1000000000, .want = "a number from 1 to 1000000000" },
	{ 0, "scale", "COMMAND",
	  "run this shell command with each of --sizes in place of {N}, and show how "
	  "its allocations grow with the size",
	  .set = option_set_word, .value = MEMBER(scale) },
	{ 0, "probe", "auto|inject|bpf|perf",
	  "with -p: count with an injected probe, or with kernel breakpoints, with or "
	  "without BPF (default auto: the first of these that is available)",
	  .set = set_method, .want = "auto, inject, bpf or perf" },
	{ 0, "stacks", NULL,
	  "report allocations by call stack, including inlined functions, with source "
	  "lines",
	  .flag = MEMBER(stacks) },
	{ 0, "sample", "BYTES",
	  "record the call stack of one allocation every BYTES on average, and show "
	  "estimates: nearly no overhead with 512K",
	  .set = option_set_bytes, .value = MEMBER(sample_bytes), .min = 1,
	  .want = "bytes, such as 64K or 512K" },
	{ 0, "live", NULL,
	  "per call stack: the bytes that are never freed, and those allocated at the "
	  "peak",
	  .flag = MEMBER(live) },
	{ 0, "record", "FILE",
	  "save the allocations by call stack in pprof's format (gzipped profile.proto)",
	  .set = option_set_word, .value = MEMBER(record) },
	{ 0, "replay", "FILE",
	  "show the stacks in this file, in pprof's format or as folded stacks, "
	  "instead of counting",
	  .set = option_set_word, .value = MEMBER(replay) },
	{ 0 },
};
