/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/option.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/message.h"
#include "cmd/core/options.h"

#define MEMBER(member) offsetof(struct options, member)

int option_add_target(struct options *o, const char *text)
{
	struct targets *t = &o->targets;
	int pid;

	if (text[0] == '\0') {
		message_usage(o->verb, "empty PID or name in the list");
		return -EINVAL;
	}
	if (text[strspn(text, "0123456789")] != '\0') {
		t->names = xgrow(t->names, &o->name_capacity, t->name_count + 1,
				 sizeof(*t->names));
		t->names[t->name_count++] = text;
		return 0;
	}
	if (num_parse_pid(text, &pid) < 0) {
		message_usage(o->verb, "'%s' is not a valid PID", text);
		return -EINVAL;
	}
	t->pids = xgrow(t->pids, &o->pid_capacity, t->pid_count + 1, sizeof(*t->pids));
	t->pids[t->pid_count++] = (struct target_pid){ .pid = pid };
	return 0;
}

/* Add the targets in a list such as "1,sshd,3" to the options. */
static int add_targets(const struct option_row *row, char *list, struct options *o)
{
	char *part;

	(void)row;
	while ((part = strsep(&list, ",")))
		if (option_add_target(o, part) < 0)
			return -ECANCELED;
	return 0;
}

static int set_format(struct options *o, enum format format)
{
	if (o->format != FORMAT_AUTO && o->format != format) {
		message_usage(o->verb, "--text, --csv and --json are mutually exclusive");
		return -ECANCELED;
	}
	o->format = format;
	return 0;
}

static int set_text(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_TEXT);
}

static int set_csv(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_CSV);
}

static int set_json(const struct option_row *row, char *arg, struct options *o)
{
	(void)row, (void)arg;
	return set_format(o, FORMAT_JSON);
}

static int set_max_share(const struct option_row *row, char *arg, struct options *o)
{
	uint64_t thousandths;

	(void)row;
	if (units_parse_percent(arg, &thousandths) < 0 || thousandths < 100 ||
	    thousandths > 100000)
		return -EINVAL;
	o->max_share_per_mille = (unsigned int)(thousandths / 100);
	return 0;
}

int option_set_heap(const struct option_row *row, char *arg, struct options *o)
{
	static const char *const modes[] = {
		[HEAP_AUTO] = "auto",
		[HEAP_WALK] = "walk",
		[HEAP_HELPER] = "helper",
		[HEAP_OFF] = "off",
	};

	(void)row;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(arg, modes[i]) == 0) {
			o->heap = (enum heap_mode)i;
			return 0;
		}
	return -EINVAL;
}

static int set_pre_copy(const struct option_row *row, char *arg, struct options *o)
{
	static const char *const modes[] = {
		[PRE_COPY_OFF] = "off",
		[PRE_COPY_AUTO] = "auto",
		[PRE_COPY_HUGE] = "huge",
		[PRE_COPY_SOFT_DIRTY] = "soft-dirty",
	};

	(void)row;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(arg, modes[i]) == 0) {
			o->pre_copy = (enum pre_copy)i;
			return 0;
		}
	return -EINVAL;
}

static int set_colour(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	if (!arg || strcmp(arg, "always") == 0)
		o->colour = COLOUR_ALWAYS;
	else if (strcmp(arg, "never") == 0)
		o->colour = COLOUR_NEVER;
	else if (strcmp(arg, "auto") == 0)
		o->colour = COLOUR_AUTO;
	else
		return -EINVAL;
	return 0;
}

static int set_keep(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	if (units_parse_bytes(arg, &o->recording.keep.bytes) == 0 ||
	    units_parse_duration(arg, &o->recording.keep.ns) == 0)
		return 0;
	return -EINVAL;
}

static int set_metric(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return profile_metric_find(arg, &o->stacks.metric);
}

/*
 * Store a rule unparsed, because rules are parsed only after all files with sets of rules
 * have been found.
 */
static int add_rule(struct stacks_options *stacks, const char *arg, bool is_file)
{
	stacks->rules = xgrow(stacks->rules, &stacks->rule_capacity,
			      stacks->rule_count + 1, sizeof(*stacks->rules));
	stacks->rules[stacks->rule_count++] = (struct stacks_rule){ is_file, arg };
	return 0;
}

static int add_transform(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return add_rule(&o->stacks, arg, false);
}

static int add_transforms(const struct option_row *row, char *arg, struct options *o)
{
	(void)row;
	return add_rule(&o->stacks, arg, true);
}

/* options that several commands share */
static const struct option_row shared_rows[] = {
	{ 'p', "pid", "PID|NAME[,...]", "select processes by PID or name",
	  .group = OPTIONS_PROCESSES, .set = add_targets },
	{ 0, "cgroup", "PATH|ID", "select a cgroup by its path or container ID",
	  .group = OPTIONS_PROCESSES, .set = option_set_word, .value = MEMBER(cgroup) },
	{ 't', "tree", NULL, "include all descendants", .group = OPTIONS_PROCESSES,
	  .flag = MEMBER(targets.with_children) },
	{ 0, "text", NULL, "print one report and exit", .group = OPTIONS_OUTPUT,
	  .set = set_text },
	{ 0, "csv", NULL, "write CSV (RFC 4180)", .group = OPTIONS_OUTPUT,
	  .set = set_csv },
	{ 'J', "json", NULL, "write JSON, one object per line", .group = OPTIONS_OUTPUT,
	  .set = set_json },
	{ 'i', "interval", "T", "time between samples: 500ms, 2s, 1m (default 1s)",
	  .group = OPTIONS_OUTPUT, .flag = MEMBER(has_interval),
	  .set = option_set_duration, .value = MEMBER(interval_ns), .min = NS_PER_MS,
	  .want = "a time of at least 1ms, such as 500ms, 2s or 1m" },
	{ 'n', "samples", "N", "stop after N samples", .group = OPTIONS_OUTPUT,
	  .set = option_set_number, .value = MEMBER(sample_count), .min = 1,
	  .want = "a number of at least 1" },
	{ 'o', "output", "COL[,...]", "show these columns; +COL adds to the default",
	  .group = OPTIONS_OUTPUT, .set = option_set_word, .value = MEMBER(output) },
	{ 0, "output-all", NULL, "show every column", .group = OPTIONS_OUTPUT,
	  .is_rare = true, .flag = MEMBER(output_all) },
	{ 0, "list-columns", NULL, "list the available columns", .group = OPTIONS_OUTPUT,
	  .is_rare = true, .flag = MEMBER(list_columns) },
	{ 0, "no-headings", NULL, "omit the line of headings", .group = OPTIONS_OUTPUT,
	  .is_rare = true, .flag = MEMBER(no_headings) },
	{ 'b', "bytes", NULL, "print sizes as exact numbers of bytes",
	  .group = OPTIONS_OUTPUT, .is_rare = true, .flag = MEMBER(exact_bytes) },
	{ 's', "sort", "[-]COL", "sort by this column; -COL reverses the order",
	  .group = OPTIONS_OUTPUT, .set = option_set_word, .value = MEMBER(sort) },
	{ 0, "top", "N", "show at most N rows per list (default 10)",
	  .group = OPTIONS_OUTPUT, .set = option_set_number, .value = MEMBER(top),
	  .min = 1, .want = "a number of at least 1" },
	{ 0, "max-share", "PERCENT",
	  "let reads block a process for at most this share of time (default 2)",
	  .group = OPTIONS_PROCESSES, .is_rare = true, .set = set_max_share,
	  .want = "a percentage from 0.1 to 100" },
	{ 0, "procfs", "DIR", "read a capture, or another mount of /proc",
	  .group = OPTIONS_PROCESSES, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(procfs_root) },
	{ 0, "max-pause", "T", "pause a process for at most T (default 1s)",
	  .group = OPTIONS_HEAP, .set = option_set_duration,
	  .value = MEMBER(max_pause_ns), .want = "a time, such as 500ms or 2s" },
	{ 0, "pre-copy", "auto|huge|soft-dirty|off",
	  "copy a large heap before the pause (default auto)", .group = OPTIONS_HEAP,
	  .is_rare = true, .set = set_pre_copy, .want = "auto, huge, soft-dirty or off" },
	{ 0, "no-stop", NULL, "read the heap without a pause; approximate",
	  .group = OPTIONS_HEAP, .is_rare = true, .flag = MEMBER(no_stop) },
	{ 0, "allow-stall", NULL, "query the allocator even if it stalls the process",
	  .group = OPTIONS_HEAP, .is_rare = true, .flag = MEMBER(allow_stall) },
	{ 0, "record", "FILE", "save the samples in this file",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = MEMBER(recording.record) },
	{ 0, "keep", "T|BYTES", "let --record keep only this much, such as 1h or 200M",
	  .group = OPTIONS_RECORDINGS, .is_rare = true, .set = set_keep,
	  .needs = "record",
	  .want = "a time such as 90s, 1h or 1d, or bytes such as 64M or 1G" },
	{ 0, "replay", "FILE", "show this recording instead of live processes",
	  .group = OPTIONS_RECORDINGS, .set = option_set_word,
	  .value = MEMBER(recording.replay) },
	{ 0, "at", "TIME", "show the sample at this time: +90s, -5m or UTC",
	  .group = OPTIONS_RECORDINGS, .is_rare = true, .set = option_set_word,
	  .value = MEMBER(recording.at), .needs = "replay" },
	{ 0, "metric", "NAME", "show this figure, such as bytes, live or peak",
	  .group = OPTIONS_STACKS, .flag = MEMBER(stacks.has_metric), .set = set_metric,
	  .want = "allocations, bytes, temporary, live_blocks, live or peak" },
	{ 0, "transform", "RULE", "edit the stacks with a rule, such as 'hide RE'",
	  .group = OPTIONS_STACKS, .is_rare = true, .set = add_transform },
	{ 0, "transforms", "FILE", "read rules for --transform from this file",
	  .group = OPTIONS_STACKS, .is_rare = true, .set = add_transforms },
	{ 0, "flame-graph", "FILE", "also draw a flame graph: FILE.svg or FILE.html",
	  .group = OPTIONS_STACKS, .set = option_set_word,
	  .value = MEMBER(stacks.flame_graph) },
	{ 0, "color", "[=WHEN]", "colour text reports: auto, always or never",
	  .group = OPTIONS_GENERAL, .is_rare = true, .set = set_colour,
	  .want = "auto, always or never" },
	{ 0, "no-pager", NULL, "do not use a pager", .group = OPTIONS_GENERAL,
	  .is_rare = true, .flag = MEMBER(no_pager) },
	{ 'h', "help", NULL, "print this help", .group = OPTIONS_GENERAL,
	  .flag = MEMBER(help) },
	{ 'V', "version", NULL, "print the version and the features built in",
	  .group = OPTIONS_GENERAL, .flag = MEMBER(version) },
};

const struct option_row *option_find_shared(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(shared_rows) / sizeof(shared_rows[0]); i++)
		if (strncmp(shared_rows[i].name, name, length) == 0 &&
		    shared_rows[i].name[length] == '\0')
			return &shared_rows[i];
	return NULL;
}
