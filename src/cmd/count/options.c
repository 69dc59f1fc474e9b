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
	{ 0, "preload", "ALLOCATOR[:NAME=VALUE...]", "run COMMAND with this allocator",
	  .group = OPTIONS_RUNS, .set = option_set_word,
	  .value = MEMBER(common.preload) },
	{ 0, "runs", "N", "count N runs, and show how they differ", .group = OPTIONS_RUNS,
	  .flag = MEMBER(common.has_run_count), .set = option_set_number,
	  .value = MEMBER(common.run_count), .min = 1, .max = 1000,
	  .want = "a number from 1 to 1000" },
	{ 0, "warm-up", "N", "run COMMAND N times before counting (default 0)",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_number,
	  .value = MEMBER(common.warm_up_count), .max = 1000,
	  .want = "a number from 0 to 1000" },
	{ 0, "check", "FILE", "check the counts against the limits in this file",
	  .group = OPTIONS_LIMITS, .set = option_set_word, .value = MEMBER(check) },
	{ 0, "test", "NAME", "use the limits of test NAME in --check FILE",
	  .group = OPTIONS_LIMITS, .is_rare = true, .needs = "check",
	  .set = option_set_word, .value = MEMBER(test) },
	{ 0, "update", NULL, "write the counts as limits to --check FILE",
	  .group = OPTIONS_LIMITS, .needs = "check", .flag = MEMBER(update) },
	{ 0, "sizes", "N[,...]", "run --scale with these sizes, at least 4",
	  .group = OPTIONS_LIMITS, .is_rare = true, .needs = "scale",
	  .set = option_set_word, .value = MEMBER(sizes) },
	{ 0, "max-exponent", "X",
	  "exit with status 4 if a count grows faster than the size to the power of X",
	  .group = OPTIONS_LIMITS, .is_rare = true, .needs = "scale",
	  .flag = MEMBER(has_max_exponent), .set = option_set_thousandths,
	  .value = MEMBER(max_exponent_thousandths),
	  .want = "a number, such as 1 or 1.25" },
	{ 0, "min", "PERCENT", "hide stacks with a smaller share (default 1)",
	  .group = OPTIONS_STACKS, .is_rare = true, .flag = MEMBER(has_min),
	  .set = option_set_percent, .value = MEMBER(min), .max = PROFILE_MIN_UNIT,
	  .want = "a percentage from 0 to 100" },
	{ 0, "folded", "FILE", "also write folded stacks, as for flamegraph.pl",
	  .group = OPTIONS_STACKS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(folded) },
	{ 0, "speedscope", "FILE", "also write the stacks for speedscope",
	  .group = OPTIONS_STACKS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(speedscope) },
	{ 0, "calls-only", NULL, "count only calls and bytes, with less overhead",
	  .group = OPTIONS_RUNS, .is_rare = true, .flag = MEMBER(calls_only) },
	{ 0, "iterations", "K", "divide the counts by K, the iterations per run",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = option_set_number,
	  .value = MEMBER(iterations), .min = 1, .max = 1000000000,
	  .want = "a number from 1 to 1000000000" },
	{ 0, "scale", "COMMAND", "run COMMAND with each size in place of {N}",
	  .group = OPTIONS_LIMITS, .set = option_set_word, .value = MEMBER(scale) },
	{ 0, "probe", "auto|inject|bpf|perf", "choose the probe for -p (default auto)",
	  .group = OPTIONS_RUNS, .is_rare = true, .set = set_method,
	  .want = "auto, inject, bpf or perf" },
	{ 0, "stacks", NULL, "report allocations by call stack", .group = OPTIONS_STACKS,
	  .flag = MEMBER(stacks) },
	{ 0, "sample", "BYTES", "record the stack of one call per BYTES",
	  .group = OPTIONS_STACKS, .set = option_set_bytes, .value = MEMBER(sample_bytes),
	  .min = 1,
	  .want = "a number of bytes with a unit: at least 1B, such as 64K or 512K" },
	{ 0, "live", NULL, "report unfreed bytes, and those at the peak",
	  .group = OPTIONS_STACKS, .flag = MEMBER(live) },
	{ 0, "record", "FILE", "save the stacks in pprof's format",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word, .value = MEMBER(record) },
	{ 0, "replay", "FILE", "show the stacks in this file; count nothing",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word, .value = MEMBER(replay) },
	{ 0 },
};
